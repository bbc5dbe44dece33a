"""A model that is asked again where that may help, for what is beside the conversation."""

from collections.abc import AsyncIterator, Callable

from contextui.agent.events import RetryScheduled, UsageSpent
from contextui.agent.retry import RetryPolicy, answer_to
from contextui.config.choices import Lang
from contextui.events import Event
from contextui.model import Answer, Model, ModelRequest, Usage, UsageTold

Tell = Callable[[Event], object]


class PatientModel:
    """The model of a conversation, whichever it is just now, asked again where that may help.

    Args:
        model: Gives the model.
        retry: How often and after how long it is asked again.
        lang: The language of the person.

    Attributes:
        name: The model's name, as it was when it was asked last.
        tell: Told of countdowns and costs. What the model says is not told: it is for the context.
        usage: What its answers cost.
    """

    def __init__(self, model: Callable[[], Model], retry: RetryPolicy, lang: Lang = "en") -> None:
        self._model, self._retry, self._lang = model, retry, lang
        self.name = model().name
        self.tell: Tell = lambda _: None
        self.usage = Usage()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Answer]:
        """The whole answer, at once.

        Raises:
            ModelError: There is none.
        """
        model = self._model()
        self.name = model.name
        yield await answer_to(model, request, self._retry, self._hear, self._lang)

    def _hear(self, event: Event) -> None:
        match event:
            case RetryScheduled():
                self.tell(event)
            case UsageTold(usage) if usage:
                self.usage += usage
                self.tell(UsageSpent(usage, 0))
