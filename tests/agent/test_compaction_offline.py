"""Compaction where nothing is configured: the offline model writes an outline of what was said."""

from contextui.agent.models.offline import OfflineModel
from contextui.events import CompactionFinished, CompactionStarted
from tests.agent.talking import end, of, run
from tests.agent.test_context_space import talk_with


def test_with_the_offline_model_the_summary_is_an_outline() -> None:
    for lang in ("en", "zh"):
        headings = {"en": ["Goal", "Next step"], "zh": ["目标", "下一步"]}
        talk = talk_with(model=OfflineModel(), lang=lang)
        words = {"en": "We must sell milk next week.", "zh": "我们下周需要卖牛奶。"}
        first = talk.context.get_active()[1]
        talk.context.edit(first.id, words[lang])
        events = run(talk, "What is on my list?")
        (finished,) = of(CompactionFinished, events)
        assert finished.result is not None, lang
        assert finished.result.success, finished.result
        for heading in headings[lang]:
            assert f"## {heading}\n- {words[lang]}" in finished.result.summary, lang
        assert end(events).reason == "done", lang
        assert of(CompactionStarted, run(talk, "And now?")) == [], lang
