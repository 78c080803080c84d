"""The `dataclass` of this project: that of the standard library, without what it compiles for each class at each start.

A command makes instances of few of the classes that it loads. So the first instance, or the first look at the fields, makes the
fields and `__init__`; comparing, hashing and showing are the same functions for all classes.
"""

import dataclasses
import reprlib
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

LATER = ("__dataclass_fields__", "__match_args__", "__init__")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False) -> Any:
        """Like `dataclasses.dataclass`, with the one option that is used here."""
        return _postponed(cls, frozen) if cls else lambda cls: _postponed(cls, frozen)


def _postponed(cls: type, frozen: bool) -> type:
    body = MappingProxyType(dict(vars(cls)))

    def twin(**options: bool) -> Any:
        # A twin is decorated, so that no method is ever missing: several threads may get here at once, and do the same.
        kept = {name: value for name, value in body.items() if name not in ("__dict__", "__weakref__")}
        made = type(cls)(cls.__name__, cls.__bases__, {**kept, "__qualname__": cls.__qualname__})
        return dataclasses.dataclass(**options)(made)

    def make() -> None:
        derived = any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:])
        made = vars(twin(frozen=frozen) if derived else twin(init=False, repr=False, eq=False))
        for name in LATER[:2]:
            setattr(cls, name, made[name])
        known = made["__dataclass_fields__"].values()
        simple = len(known) == len(dataclasses.fields(cls)) and all(one.init and not one.kw_only for one in known)
        init = _init(cls, frozen) if simple else vars(twin(frozen=frozen))["__init__"]
        setattr(cls, "__init__", body.get("__init__") or init)  # noqa: B010

    shared: dict[str, Any] = {"__eq__": _eq, "__repr__": _repr, "__hash__": _hash if frozen else None}
    if frozen:
        shared |= _frozen(cls)
    shared["__dataclass_params__"] = dataclasses._DataclassParams(True, True, True, False, False, frozen)  # type: ignore[attr-defined]
    own_hash = body.get("__hash__") is not None
    for name, value in shared.items():
        if name not in body or (name == "__hash__" and not own_hash):
            setattr(cls, name, value)
    for name in LATER:
        if body.get(name) is None:
            setattr(cls, name, _Later(cls, name, make))
    for name, value in body.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    return cls


def _values(one: Any, wanted: str) -> tuple[Any, ...]:
    return tuple(getattr(one, each.name) for each in dataclasses.fields(one) if getattr(each, wanted))


def _eq(self: Any, other: Any) -> Any:
    return (
        _values(self, "compare") == _values(other, "compare") if other.__class__ is self.__class__ else NotImplemented
    )


def _hash(self: Any) -> int:
    counted = (one for one in dataclasses.fields(self) if (one.compare if one.hash is None else one.hash))
    return hash(tuple(getattr(self, one.name) for one in counted))


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _frozen(cls: Any) -> dict[str, Any]:
    """What keeps the fields of instances; a class that is derived from this one may have attributes besides."""

    def is_kept(one: Any, name: str) -> bool:
        return type(one) is cls or name in cls.__dataclass_fields__

    def put(self: Any, name: str, value: Any) -> None:
        if is_kept(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if is_kept(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": put, "__delattr__": delete}


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
