"""The `dataclass` of this project: the one of the standard library, whose methods are made when they are first used.

Making them compiles six functions for each class at each start; a command uses few of the classes that it loads, and of most it only
makes instances. So the first instance, or the first look at the fields, makes the fields and `__init__`; anything else that is asked
for has the class made as a whole, by the standard decorator.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

FIRST = ("__dataclass_fields__", "__match_args__", "__init__")
REST = ("__dataclass_params__", "__repr__", "__eq__", "__hash__")
FROZEN = ("__setattr__", "__delattr__")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False) -> Any:
        """Like `dataclasses.dataclass`, with the one option that is used here."""
        return _postponed(cls, frozen) if cls else lambda cls: _postponed(cls, frozen)


def _postponed(cls: type, frozen: bool) -> type:
    body = dict(vars(cls))
    rest = (*FROZEN * frozen, *REST)

    def twin(**options: bool) -> Any:
        # A twin is decorated, so that no method is ever missing: several threads may get here at once, and do the same.
        kept = {name: value for name, value in body.items() if name not in ("__dict__", "__weakref__")}
        made = type(cls)(cls.__name__, cls.__bases__, {**kept, "__qualname__": cls.__qualname__})
        return dataclasses.dataclass(**options)(made)

    def make_first() -> None:
        derived = any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:])
        made = vars(twin(frozen=frozen) if derived else twin(init=False, repr=False, eq=False))
        for name in FIRST[:2]:
            setattr(cls, name, made[name])
        known = made["__dataclass_fields__"].values()
        simple = len(known) == len(dataclasses.fields(cls)) and all(one.init and not one.kw_only for one in known)
        init = _init(cls, frozen) if simple else vars(twin(frozen=frozen))["__init__"]
        setattr(cls, "__init__", body.get("__init__") or init)  # noqa: B010

    def make_rest() -> None:
        made = twin(frozen=frozen)
        for name in rest:
            value = vars(made)[name]
            for cell in getattr(value, "__closure__", None) or ():
                if cell.cell_contents is made:
                    cell.cell_contents = cls
            setattr(cls, name, value)

    for make, names in ((make_first, FIRST), (make_rest, rest)):
        for name in names:
            if body.get(name) is None:
                setattr(cls, name, _Later(cls, name, make))
    for name, value in body.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    return cls


def _init(cls: Any, frozen: bool) -> Any:
    """The `__init__` of a class with fields, as the standard decorator writes it."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_none": dataclasses.MISSING}
    given, lines = ["self"], []
    for one in dataclasses.fields(cls):
        value = one.name
        if one.default_factory is not dataclasses.MISSING:
            known[f"_make_{one.name}"] = one.default_factory
            value = f"_make_{one.name}() if {one.name} is _none else {one.name}"
            given.append(f"{one.name}=_none")
        elif one.default is not dataclasses.MISSING:
            known[f"_default_{one.name}"] = one.default
            given.append(f"{one.name}=_default_{one.name}")
        else:
            given.append(one.name)
        lines.append(f" _put(self, {one.name!r}, {value})" if frozen else f" self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(given)}):", *lines, " return None"]), known)
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


class _Later:
    """An attribute of a class that is made when it is first asked for."""

    def __init__(self, cls: type, name: str, make: Callable[[], None]) -> None:
        self.cls, self.name, self.make = cls, name, make

    def __get__(self, instance: object, owner: type) -> Any:
        if vars(self.cls)[self.name] is self:
            self.make()
        made = vars(self.cls)[self.name]
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made
