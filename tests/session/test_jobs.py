"""Jobs in a session: what they commit is logged, and one that was running is reported."""

import asyncio
from pathlib import Path

from contextui import (
    Body,
    InteractionController,
    Job,
    Lod,
    ScriptedModel,
    Window,
    action,
)
from contextui.session.session import Session
from tests.agent.talking import run
from tests.session.talk import store_in


class Baker(Window):
    """Bakes."""

    class State(Window.State):
        loaves: int = 0

    state: State

    def content(self, lod: Lod) -> Body:
        return f"{self.state.loaves} loaves"

    @action("Bake until the gate opens")
    def bake(self, loaves: int) -> Job:
        async def work(job: Job) -> None:
            for number in range(loaves):
                async with self.env.change():
                    self.state.loaves += 1
                job.progress(number + 1, loaves)
            await asyncio.Event().wait()

        return self.env.job("bake", work)


def reports(session: Session) -> str:
    """What the model reads about windows with the next message."""
    model = ScriptedModel("Hello.")
    talk = InteractionController(model=model, context=session.context)
    run(talk, "hi")
    talk.close()
    return "\n".join(one.content for one in session.context.get_all())


async def start(session: Session) -> None:
    window = session.windows.open("baker")
    assert (await session.windows.act(window.id, "bake", {"loaves": 3})).ok
    while b'"loaves":3' not in session.path.read_bytes():  # the state is seen a moment before
        await asyncio.sleep(0.005)


def test_a_kill_keeps_what_the_job_committed_and_that_it_was_running(tmp_path: Path) -> None:
    store = store_in(tmp_path, classes=[Baker])
    session = store.create(tmp_path)
    asyncio.run(start(session))
    session._recorder.stop()  # as after a kill: what was written is all there is
    session._log.close()
    with store.open(session.id) as again:
        window = again.windows.get("baker_1")
        assert isinstance(window, Baker)
        assert window.state.loaves == 3
        assert "bake was interrupted" in reports(again)
    with store.open(session.id) as third:
        assert reports(third).count("was interrupted") == 1
    session.windows.shut_down()
