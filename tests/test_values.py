"""The dataclass of this project does what the standard one does, whatever a class is first used for."""

import copy
import dataclasses
import pickle
import pkgutil
import sys
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentd
from agentd import values
from agentd.values import dataclass

T = TypeVar("T")
Decorator = Callable[..., Any]

DEFAULTS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "plain": lambda: 7,
    "field": lambda: field(default=8),
    "factory": lambda: field(default_factory=lambda: [9]),
    "not compared": lambda: field(default=10, compare=False),
    "not shown": lambda: field(default=11, repr=False),
}
METHODS: dict[str, Callable[..., Any]] = {
    "__post_init__": lambda self: object.__setattr__(self, "seen", True),
    "__repr__": lambda self: f"<{type(self).__name__}>",
    "__eq__": lambda self, other: type(self) is type(other),
    "__hash__": lambda self: 1,
    "__init__": lambda self, *given: object.__setattr__(self, "given", given),
}
USES: dict[str, Callable[[type[Any]], Any]] = {
    "fields": lambda cls: [(one.name, one.type, one.compare, one.repr) for one in fields(cls)],
    "is a dataclass": is_dataclass,
    "match args": lambda cls: cls.__match_args__,
    "params": lambda cls: repr(cls.__dataclass_params__),
    "an instance": lambda cls: vars(cls(1, 2)),
    "too many": lambda cls: vars(cls(*range(9))),
    "by name": lambda cls: vars(cls(b=2, a=1)),
    "repr": lambda cls: repr(cls(1, 2)),
    "repr of a bare one": lambda cls: repr(bare(cls)),
    "equal": lambda cls: (cls(1, 2) == cls(1, 2), cls(1, 2) == cls(1, 3), cls(1, 2) != cls(1, 2), cls(1, 2) == (1, 2)),
    "equal bare ones": lambda cls: bare(cls) == bare(cls),
    "hash": lambda cls: hash(cls(1, 2)) == hash(cls(1, 2)),
    "hash of a bare one": lambda cls: hash(bare(cls)) == hash(bare(cls)),
    "set": lambda cls: setattr(cls(1, 2), "a", 3),
    "set on a bare one": lambda cls: setattr(bare(cls), "a", 3),
    "set another": lambda cls: setattr(cls(1, 2), "other", 3),
    "delete": lambda cls: delattr(cls(1, 2), "a"),
    "replace": lambda cls: vars(replace(cls(1, 2), a=5)),
    "as a dict": lambda cls: asdict(cls(1, 2)),
    "copy": lambda cls: vars(copy.deepcopy(cls(1, 2))),
    "below": lambda cls: vars(type("Below", (cls,), {})(1, 2)),
    "set below": lambda cls: setattr(type("Below", (cls,), {})(1, 2), "other", 3),
    "class attributes": lambda cls: {name: getattr(cls, name, "none") for name in "abc"},
    "name": lambda cls: getattr(cls.__init__, "__qualname__", ""),
}


def bare(cls: type[Any]) -> Any:
    """An instance that no `__init__` made, as unpickling makes it."""
    made = object.__new__(cls)
    vars(made).update(a=1, b=2, c=3, d="more")
    return made


def outcome(use: Callable[[type[Any]], Any], cls: type[Any]) -> Any:
    try:
        return use(cls)
    except Exception as error:
        return type(error), str(error)


shapes = st.tuples(
    st.sampled_from(
        [("none", "none", "plain"), *((x, y, z) for x in ("none", "plain") for y in DEFAULTS for z in DEFAULTS)]
    ),
    st.sets(st.sampled_from(sorted(METHODS))),
    st.booleans(),
    st.booleans(),
)


def make(decorator: Decorator, shape: tuple[tuple[str, ...], set[str], bool, bool]) -> type[Any]:
    kinds, methods, frozen, derived = shape
    body: dict[str, Any] = {"__annotations__": dict.fromkeys("abc", int), "__module__": __name__, "__doc__": "One."}
    body |= {name: DEFAULTS[kind]() for name, kind in zip("abc", kinds, strict=True) if kind != "none"}
    body |= {name: METHODS[name] for name in methods}
    cls = decorator(frozen=frozen)(type("One", (), body))
    if derived:
        more = {"__annotations__": {"d": str}, "__module__": __name__, "d": "more", "__doc__": "Two."}
        cls = decorator(frozen=frozen)(type("Two", (cls,), more))
    found: type[Any] = cls
    return found


@given(shapes, st.lists(st.sampled_from(sorted(USES)), min_size=1, max_size=4))
def test_every_use_has_the_outcome_it_has_with_the_standard_one(
    shape: tuple[tuple[str, ...], set[str], bool, bool], uses: list[str]
) -> None:
    try:
        standard = make(dataclasses.dataclass, shape)
    except TypeError:  # the fields are in an order that no class may have; here that is found at the first use
        with pytest.raises((TypeError, SyntaxError)):
            fields(make(dataclass, shape))
        return
    ours = make(dataclass, shape)
    for name in uses:
        assert outcome(USES[name], ours) == outcome(USES[name], standard), name


@pytest.mark.parametrize("name", USES)
def test_the_first_use_may_be_any(name: str) -> None:
    for methods in (set[str](), {"__eq__"}):
        for frozen in (True, False):
            for derived in (True, False):
                shape = (("none", "field", "factory"), methods, frozen, derived)
                ours, standard = make(dataclass, shape), make(dataclasses.dataclass, shape)
                assert outcome(USES[name], ours) == outcome(USES[name], standard), shape


@dataclass(frozen=True)
class Pair:
    """Two things."""

    kind: ClassVar[str] = "pair"
    left: int
    right: int = 0


@dataclass(frozen=True)
class Odd:
    """Fields that a plain constructor does not have."""

    right: int = field(default=1, kw_only=True)
    both: int = field(init=False, default=5)


@dataclass
class Box(Generic[T]):
    """One thing, and how it is got at."""

    inside: T

    def __post_init__(self) -> None:
        self.opened = 0


class Named(Pair):
    """No dataclass, but below one."""

    def __init__(self, left: int) -> None:
        super().__init__(left, left)


def test_nothing_is_made_before_the_first_use() -> None:
    cls = make(dataclass, (("none", "none", "plain"), set(), True, False))
    assert isinstance(vars(cls)["__init__"], values._Later)
    assert repr(cls(1, 2))
    assert not [name for name, value in vars(cls).items() if isinstance(value, values._Later)]


def test_a_pattern_matches_by_position() -> None:
    match Pair(1, 2):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_a_class_below_calls_the_constructor_above() -> None:
    assert (Named(3).left, Named(3).right) == (3, 3)
    with pytest.raises(FrozenInstanceError):
        Named(3).left = 4  # type: ignore[misc]


def test_fields_that_are_not_given_by_position_are_not_taken_by_it() -> None:
    assert repr(Odd(right=3)) == "Odd(right=3, both=5)"
    with pytest.raises(TypeError):
        Odd(3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Odd(both=3)  # type: ignore[call-arg]


def test_a_generic_class_stays_generic() -> None:
    box = Box[int](3)
    assert (box.inside, box.opened, Box.__parameters__) == (3, 0, (T,))  # type: ignore[attr-defined]


def test_a_pickle_is_read_before_the_class_was_used() -> None:
    text = pickle.dumps(Pair(1, 2))
    fresh: Any = dataclass(frozen=True)(
        type(
            "Pair", (), {"__annotations__": {"left": int, "right": int}, "__module__": __name__, "__qualname__": "Pair"}
        )
    )
    module = sys.modules[__name__]
    before = module.Pair
    try:
        module.Pair = fresh  # type: ignore[attr-defined]
        read = pickle.loads(text)
        assert hash(read) == hash(pickle.loads(text))
        assert read == fresh(1, 2)
        assert repr(read) == "Pair(left=1, right=2)"
    finally:
        module.Pair = before  # type: ignore[attr-defined]


def test_threads_may_use_a_class_for_the_first_time_at_once() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(30):
            cls = make(dataclass, (("none", "none", "factory"), {"__post_init__"}, True, True))
            assert _seen_by_threads(cls) == {("Two(a=1, b=2, c=[9], d='more')", True, True)}
    finally:
        sys.setswitchinterval(interval)


def _seen_by_threads(cls: type[Any]) -> set[Any]:
    seen: list[Any] = []
    ready = threading.Barrier(8)

    def use() -> None:
        ready.wait()
        try:
            one = cls(1, 2)
            seen.append((repr(one), one == cls(1, 2), one.seen))
            setattr(one, "a", 3)  # noqa: B010
            seen.append("it was changed")
        except FrozenInstanceError:
            pass
        except Exception as error:
            seen.append(error)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8, seen
    return set(seen)


def test_every_class_of_agentd_can_be_made() -> None:
    for module in pkgutil.walk_packages(agentd.__path__, "agentd."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and value.__module__ == module.name and is_dataclass(value):
                assert dataclasses.fields(value)
                assert callable(value.__repr__)
                assert not [name for name, made in vars(value).items() if isinstance(made, values._Later)]


def test_no_method_that_python_looks_up_by_itself_is_made_late() -> None:
    """Python drops an exception, such as that of a signal, which is raised while it looks up a method to compare with."""

    @dataclass(frozen=True)
    class One:
        a: int = 1

    late = {name for name, value in vars(One).items() if type(value).__name__ == "_Later"}
    assert late == {"__dataclass_fields__", "__match_args__", "__init__"}
