"""The `dataclass` of this project: the one of the standard library, whose methods are made when a class is first used.

Making them compiles a few functions for each class at each start, and a command uses few of the classes that it loads.
A class is used when it gets an instance or a dataclass below it, or when its fields are asked for; from then on it has what the
standard decorator makes.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

MADE = ("__dataclass_fields__", "__dataclass_params__", "__match_args__", "__repr__", "__eq__", "__hash__", "__init__")
FROZEN = ("__setattr__", "__delattr__")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False) -> Any:
        """Like `dataclasses.dataclass`, with the one option that is used here."""
        return _postponed(cls, frozen) if cls else lambda cls: _postponed(cls, frozen)


def _postponed(cls: type, frozen: bool) -> type:
    body = dict(vars(cls))

    def make() -> None:
        # A twin is decorated, so that no method is ever missing: several threads may get here at once, and do the same.
        kept = {name: value for name, value in body.items() if name not in ("__dict__", "__weakref__")}
        twin = type(cls)(cls.__name__, cls.__bases__, {**kept, "__qualname__": cls.__qualname__})
        dataclasses.dataclass(frozen=frozen)(twin)
        made = {name: vars(twin)[name] for name in (*FROZEN * frozen, *MADE)}
        for name, value in made.items():
            for cell in getattr(value, "__closure__", None) or ():
                if cell.cell_contents is twin:
                    cell.cell_contents = cls
            setattr(cls, name, value)

    for name in (*FROZEN * frozen, *MADE):
        if body.get(name) is None:
            setattr(cls, name, _Later(cls, name, make))
    for name, value in body.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    return cls


class _Later:
    """An attribute of a class that is made when it is first asked for."""

    def __init__(self, cls: type, name: str, make: Callable[[], None]) -> None:
        self.cls, self.name, self.make = cls, name, make

    def __get__(self, instance: object, owner: type) -> Any:
        if vars(self.cls)[self.name] is self:
            self.make()
        made = vars(self.cls)[self.name]
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made
