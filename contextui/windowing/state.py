"""A window's state: a pydantic model that changes in transactions, or not at all."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from contextui.errors import InvalidSourceDataError

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
        """The names of the fields marked `Transient`."""
        return frozenset(
            name for name, field in cls.model_fields.items() if _TRANSIENT in field.metadata
        )

    def saved(self) -> dict[str, Any]:
        """The state as JSON-ready data: what a session keeps of it."""
        return self.model_dump(mode="json", round_trip=True, exclude=set(self.transient_fields()))


S = TypeVar("S", bound=WindowState)


class StateKeeper(Generic[S]):
    """Holds what was last committed, and so knows what changed and how to go back.

    Comparing whole dumps sees deep changes too (``items.append``), which pydantic does not.
    """

    def __init__(self, state: S) -> None:
        self._class = type(state)
        self._transient = self._class.transient_fields()
        self._committed = self._dump(state)
        self._references: dict[str, Any] = {}
        self.begin(state)

    def begin(self, state: S) -> None:
        """Remember where the transient fields point."""
        self._references = {name: getattr(state, name) for name in self._transient}

    def commit(self, state: object) -> tuple[S, bool]:
        """Validate the state anew.

        Returns:
            The state to go on with, and whether it differs from what was committed last.

        Raises:
            InvalidSourceDataError: It does not validate; `rollback` gives the one before.
        """
        if not isinstance(state, self._class):
            raise InvalidSourceDataError(
                f"the state became a {type(state).__name__}; it must stay a {self._class.__name__}"
            )
        dump = self._dump(state)
        if dump == self._committed:
            return state, False
        try:
            valid = self._class.model_validate(dump, by_name=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise InvalidSourceDataError(
                f"the state would not be valid: {path}: {first['msg']}"
            ) from error
        self._carry(valid, {name: getattr(state, name) for name in self._transient})
        self._committed = self._dump(valid)
        return valid, True

    def rollback(self) -> S:
        """The state as it was committed last."""
        state = self._class.model_validate(self._committed, by_name=True)
        self._carry(state, self._references)
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
