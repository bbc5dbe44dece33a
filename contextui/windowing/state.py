"""A window's state: a pydantic model with commit, rollback and frozen (read-only) copies."""

import dataclasses
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Annotated, Any, Generic, NoReturn, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from contextui.errors import FrozenStateError, InvalidSourceDataError, WindowDefinitionError
from contextui.windowing.error_text import invalid_fields

Value = TypeVar("Value")

_ATOMS = frozenset({str, int, float, bool, type(None), bytes})


def freeze(value: Value) -> Value:
    """Return a deeply immutable copy that equals the value and has its type.

    Lists, dicts, sets, tuples, pydantic models and dataclasses are copied; anything else is used as
    is. Copying a frozen value (`copy`, `deepcopy`, `model_copy`) returns a mutable one.
    """
    kind: Any = type(value)
    if kind in _ATOMS:
        return value
    frozen: Value = _way(kind)(value)
    return frozen


@lru_cache(maxsize=512)
def _way(kind: Any) -> Callable[[Any], Any]:
    if "__frozen__" in vars(kind):
        return _same
    ways: list[tuple[type, Callable[[Any], Any]]] = [
        (list, lambda value: FrozenList(_each(value))),
        (dict, _frozen_dict),
        (set, FrozenSet),
        (tuple, _frozen_tuple),
        (BaseModel, _frozen_model),
    ]
    for base, way in ways:
        if issubclass(kind, base):
            return way
    return _frozen_dataclass if dataclasses.is_dataclass(kind) else _same


def _same(value: Any) -> Any:
    return value


def _each(values: Any) -> Any:
    """Freeze the values; return them as they are if all are atoms, as in most lists."""
    if _ATOMS.issuperset(map(type, values)):
        return values
    return [freeze(value) for value in values]


def _frozen_dict(value: dict[Any, Any]) -> Any:
    if _ATOMS.issuperset(map(type, value.values())):
        return FrozenDict(value)
    return FrozenDict({name: freeze(one) for name, one in value.items()})


def _frozen_tuple(value: tuple[Any, ...]) -> Any:
    parts = _each(value)
    if parts is value:
        return value
    make: Callable[[list[Any]], Any] = getattr(type(value), "_make", type(value))
    return make(parts)  # `_make` builds a named tuple of its parts


# --- frozen classes --------------------------------------------------------------------


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise FrozenStateError(
        "This is a copy for reading. A window's state is changed only inside its actions, hooks "
        "and timers."
    )


def _frozen_class(cls: type, changing: str, plain: Callable[[Any], Any]) -> Any:
    """Create an immutable subclass whose instances pass for instances of the class.

    It is built without pydantic's metaclass: fields, validators and serializer are inherited.

    Args:
        changing: The methods that change an instance.
        plain: Returns a mutable copy of an instance, whose parts are the same.
    """
    members = dict.fromkeys(changing.split(), _refuse) | {
        "__slots__": (),
        "__frozen__": True,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__class__": property(lambda _: cls),
        "__copy__": lambda self: plain(self),  # noqa: PLW0108  (bound to the instance)
        "__deepcopy__": lambda self, memo=None: deepcopy(plain(self), memo),
        "__reduce_ex__": lambda self, protocol: plain(self).__reduce_ex__(protocol),
    }
    return type.__new__(type(cls), cls.__name__, (cls,), members)


FrozenList = _frozen_class(
    list,
    "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__",
    list,
)
FrozenDict = _frozen_class(
    dict, "update setdefault pop popitem clear __setitem__ __delitem__ __ior__", dict
)
FrozenSet = _frozen_class(
    set,
    "add remove discard pop clear update intersection_update difference_update "
    "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__",
    set,
)


@lru_cache(maxsize=512)
def _twin(cls: type) -> type:
    twin: type = _frozen_class(cls, "__setattr__ __delattr__", lambda value: _plain(cls, value))
    return twin


# --- models and dataclasses ------------------------------------------------------------


_PARTS = ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


def _frozen_model(model: BaseModel) -> Any:
    cls, given = type(model), model.__dict__
    kept = _transient(cls)
    values = {name: one if name in kept else freeze(one) for name, one in given.items()}
    return _filled_model(_twin(cls), model, values)


@lru_cache(maxsize=512)
def _transient(cls: type) -> frozenset[str]:
    """Return the `Transient` fields: they may hold a lock or a connection, and are not copied."""
    names: frozenset[str] = getattr(cls, "transient_fields", frozenset)()
    return names


def _filled_model(cls: type, model: BaseModel, values: dict[str, Any]) -> Any:
    copy: Any = object.__new__(cls)
    object.__setattr__(copy, "__dict__", values)
    for part in _PARTS:
        object.__setattr__(copy, part, getattr(model, part))
    return copy


def _frozen_dataclass(value: Any) -> Any:
    return _filled(_twin(value.__class__), value, freeze)


def _filled(cls: type, value: Any, how: Callable[[Any], Any]) -> Any:
    copy: Any = object.__new__(cls)
    for field in dataclasses.fields(value):
        if hasattr(value, field.name):
            object.__setattr__(copy, field.name, how(getattr(value, field.name)))
    return copy


def _plain(cls: type, value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _filled_model(cls, value, dict(value.__dict__))
    return _filled(cls, value, _same)


T = TypeVar("T")
_TRANSIENT = object()

Transient = Annotated[T, _TRANSIENT]
"""Marks a state field that is neither compared nor saved: ``samples: Transient[list[int]]``.

A change of it alone creates no new version of the window. A rollback restores which object the
field held, not the contents of that object.
"""


class WindowState(BaseModel):
    """Base class of every window's ``State``."""

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in vars(cls).get("__annotations__", ()):
            is_of_pydantic = name.startswith("model_") and name in vars(BaseModel)
            if is_of_pydantic or name in vars(WindowState):
                raise WindowDefinitionError(
                    f"{cls.__qualname__} declares a field {name}, which every State has: choose "
                    "another name."
                )

    @classmethod
    def transient_fields(cls) -> frozenset[str]:
        """Return the names of fields marked `Transient` or excluded by pydantic."""
        return frozenset(
            name
            for name, field in cls.model_fields.items()
            if _TRANSIENT in field.metadata or field.exclude
        )

    def saved(self) -> dict[str, Any]:
        """Return the state as JSON-ready data, for the session log."""
        return self.model_dump(mode="json", round_trip=True, exclude=set(self.transient_fields()))

    @classmethod
    def from_saved(cls, data: Mapping[str, Any]) -> Self:
        """Restore a state from the data of `saved`."""
        try:
            return cls.model_validate(data, by_name=True)
        except ValidationError as error:
            raise InvalidSourceDataError(invalid_fields(error)) from error


S = TypeVar("S", bound=WindowState)


class StateKeeper(Generic[S]):
    """Keeps the last committed state, detects changes and rolls back.

    Comparing whole dumps detects deep changes too (``items.append``), which pydantic does not.

    Attributes:
        live: The state that a transaction changes.
    """

    def __init__(self, state: S | None) -> None:
        if state is None:
            raise InvalidSourceDataError(
                "there is no state: its __init__ must call super().__init__(); code that runs "
                "when the window opens belongs in opened()"
            )
        if not isinstance(state, WindowState):
            raise InvalidSourceDataError(
                f"the state is a {type(state).__name__}; it must be a Window.State"
            )
        self.live, self._class = state, type(state)
        self._transient = self._class.transient_fields()
        self._committed: dict[str, Any] = {}
        self._draft = state, self._committed
        # The committed data and the transient references; always replaced together.
        self._stable: tuple[dict[str, Any], dict[str, Any]] = (self._committed, {})
        self._view: tuple[object, S] | None = None
        self.check()
        self.commit()

    def begin(self) -> bool:
        """Start a transaction; False if the state was changed since the last one."""
        self.refer()
        return self._dump(self.live) == self._committed

    def refer(self) -> None:
        """Remember which objects the transient fields hold."""
        references = {name: getattr(self.live, name) for name in self._transient}
        committed, before = self._stable
        same = committed is self._committed and before.keys() == references.keys()
        if not same or any(references[name] is not before[name] for name in before):
            self._stable = self._committed, references

    def view(self) -> S:
        """Return a read-only copy of the committed state, created on first use.

        Thread-safe: it is built from data that no transaction changes.
        """
        stable, known = self._stable, self._view
        if known is not None and known[0] is stable:
            return known[1]
        state = self._class.from_saved(stable[0])
        self._carry(state, stable[1])
        view = freeze(state)
        self._view = stable, view
        return view

    def check(self) -> bool:
        """Validate the state, so that `commit` cannot fail; return whether it has changed."""
        state: object = self.live
        if not isinstance(state, self._class):
            raise InvalidSourceDataError(
                f"the state became a {type(state).__name__}; it must stay a {self._class.__name__}"
            )
        dump = self._dump(state)
        if dump == self._committed:
            self._draft = state, self._committed
            return False
        try:
            valid = self._class.from_saved(dump)
        except InvalidSourceDataError as error:
            raise InvalidSourceDataError(f"the state would not be valid: {error}") from error
        self._carry(valid, {name: getattr(state, name) for name in self._transient})
        self._draft = valid, self._dump(valid)
        return True

    def commit(self) -> None:
        """Commit the state that was checked last."""
        self.live, self._committed = self._draft
        self.refer()

    def rollback(self) -> None:
        """Restore the last committed state."""
        try:
            state = self._class.from_saved(self._committed)
        except Exception as error:
            raise InvalidSourceDataError(f"the state cannot be rolled back: {error}") from error
        self._carry(state, self._stable[1])
        self._committed = self._dump(state)  # the state must not share objects with it
        self.live = state
        self.refer()

    def _dump(self, state: S) -> dict[str, Any]:
        return state.model_dump(
            mode="python", round_trip=True, exclude=set(self._transient), warnings=False
        )

    @staticmethod
    def _carry(state: S, references: dict[str, Any]) -> None:
        for name, value in references.items():
            # Bypass pydantic: a transient may be anything, and setting it does not change the
            # state.
            state.__dict__[name] = value
