"""A window's state: a pydantic model that changes in transactions, or not at all."""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from contextui.errors import InvalidSourceDataError
from contextui.windowing.frozen import freeze

T = TypeVar("T")
_TRANSIENT = object()

Transient = Annotated[T, _TRANSIENT]
"""Marks a field of a state that is neither compared nor saved: ``samples: Transient[list[int]]``.

A change of it alone makes no new version of the window; a failed action puts back which object
the field held, not what happened inside that object.
"""


class WindowState(BaseModel):
    """The base of every window's ``State``."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @classmethod
    def transient_fields(cls) -> frozenset[str]:
        """The names of the fields marked `Transient`, or excluded in pydantic's own way."""
        return frozenset(
            name
            for name, field in cls.model_fields.items()
            if _TRANSIENT in field.metadata or field.exclude
        )

    def saved(self) -> dict[str, Any]:
        """The state as JSON-ready data: what a session keeps of it."""
        return self.model_dump(mode="json", round_trip=True, exclude=set(self.transient_fields()))

    @classmethod
    def from_saved(cls, data: Mapping[str, Any]) -> Self:
        """The state that `saved` told of.

        Raises:
            InvalidSourceDataError: The data is not such a state; the text says where.
        """
        try:
            return cls.model_validate(data, by_name=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = ".".join(map(str, first["loc"])) or cls.__name__
            raise InvalidSourceDataError(f"{path}: {first['msg']}") from error


S = TypeVar("S", bound=WindowState)


class StateKeeper(Generic[S]):
    """Holds what was last committed, and so knows what changed and how to go back.

    Comparing whole dumps sees deep changes too (``items.append``), which pydantic does not.
    """

    def __init__(self, state: S | None) -> None:
        if state is None:
            raise InvalidSourceDataError(
                "there is no state: an __init__ of its own must call super().__init__(), and "
                "what is to happen when the window opens is better written as opened()"
            )
        if not isinstance(state, WindowState):
            raise InvalidSourceDataError(
                f"the state is a {type(state).__name__}; it must be a Window.State"
            )
        self._class = type(state)
        self._transient = self._class.transient_fields()
        self._committed: dict[str, Any] = {}
        self._draft = state, self._committed
        # What was committed, and where the transient fields point: replaced together.
        self._stable: tuple[dict[str, Any], dict[str, Any]] = (self._committed, {})
        self._view: tuple[object, S] | None = None
        self.refer(state)
        self.check(state)

    def begin(self, state: S) -> bool:
        """Start a transaction.

        Returns:
            Whether the state is still what was committed. If not, something that kept a part of
            it changed that since; `rollback` gives the committed one.
        """
        self.refer(state)
        return self._dump(state) == self._committed

    def refer(self, state: S) -> None:
        """Remember where the transient fields point."""
        references = {name: getattr(state, name) for name in self._transient}
        committed, before = self._stable
        same = committed is self._committed and before.keys() == references.keys()
        if not same or any(references[name] is not before[name] for name in before):
            self._stable = self._committed, references

    def view(self) -> S:
        """A read-only copy of what was committed last, made when it is first asked for.

        It may be asked for on any thread: it is made of what no transaction changes.
        """
        stable, known = self._stable, self._view
        if known is not None and known[0] is stable:
            return known[1]
        state = self._class.from_saved(stable[0])
        self._carry(state, stable[1])
        view = freeze(state)
        self._view = stable, view
        return view

    def check(self, state: object) -> bool:
        """Validate the state anew, so that nothing but `commit` is left to do.

        Returns:
            Whether it differs from what was committed last.

        Raises:
            InvalidSourceDataError: It does not validate; `rollback` gives the one before.
        """
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

    def commit(self) -> S:
        """Hold what was checked last as committed: the state to go on with."""
        state, self._committed = self._draft
        self.refer(state)
        return state

    def rollback(self) -> S:
        """The state as it was committed last.

        Raises:
            InvalidSourceDataError: Its validators refuse what they accepted before.
        """
        try:
            state = self._class.from_saved(self._committed)
        except Exception as error:
            raise InvalidSourceDataError(
                f"the state cannot go back to what it was: {error}"
            ) from error
        self._carry(state, self._stable[1])
        self._committed = self._dump(state)  # the state must share nothing with it
        self.refer(state)
        return state

    def _dump(self, state: S) -> dict[str, Any]:
        return state.model_dump(
            mode="python", round_trip=True, exclude=set(self._transient), warnings=False
        )

    @staticmethod
    def _carry(state: S, references: dict[str, Any]) -> None:
        for name, value in references.items():
            # Past pydantic: a transient may be anything, and setting it is no change of the state.
            state.__dict__[name] = value
