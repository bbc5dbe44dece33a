"""Every action of every window is reached by its id and by its label.

The plain sentences for each action are in the development table.
"""

from pathlib import Path

import pytest

from contextui import Window
from contextui.words import Lang
from tests.agent.models.offline.table import scene
from tests.agent.models.offline.talk import UNKNOWN, built_in
from tests.thorough import IS_THOROUGH

EVERY = (*built_in(), *UNKNOWN)
ARGUMENTS = {
    "code.save": 'code_id=greet language=python content="print(1)"',
    "code.show": "code_id=main",
    "code.page": "number=2",
    "code.delete": "code_id=main",
    "editor.find": "text=two",
    "editor.replace": "old=two new=zwei",
    "editor.goto": "line=2",
    "editor.insert": "before_line=1 text=zero",
    "editor.replace_lines": "first=1 last=2 text=new",
    "editor.delete_lines": "first=1 last=2",
    "editor.splice": "start=0 end=3 text=uno",
    "editor.save_as": "path=backup.txt",
    "editor.open": "path=src/main.py",
    "files.open": "path=notes.txt",
    "files.expand": "path=src/",
    "files.collapse": "path=src/",
    "files.enter": "path=src/",
    "files.page": "number=2",
    "files.find_name": "text=main",
    "files.find_text": "text=TODO",
    "git.show": "path=notes.txt",
    "git.log": "count=5",
    "git.stage": "paths=notes.txt",
    "git.unstage": "paths=notes.txt",
    "git.commit": 'message="fix the total"',
    "git.discard": "path=notes.txt",
    "git.open": "path=notes.txt",
    "git.page": "number=2",
    "monitor.every": "seconds=10",
    "monitor.show": "metrics=cpu,memory",
    "monitor.processes": "count=3 by=memory",
    "monitor.arguments": "show=true",
    "notebook.write": 'text="the key is under the mat"',
    "notebook.edit": "entry=1 text=later",
    "notebook.delete": "entry=1",
    "notebook.tag": "entry=1 tags=car",
    "notebook.untag": "entry=1 tags=home",
    "notebook.expand": "entry=1",
    "notebook.collapse": "entry=1",
    "notebook.filter": "tag=home",
    "notebook.search": "text=garage",
    "notebook.keep": "on=true",
    "terminal.run": "command=pwd",
    "terminal.input": "text=hello",
    "terminal.page": "command=1",
    "terminal.find": "text=error",
    "todo.add": "text=bread",
    "todo.find": "text=rent",
    "todo.done": "item=2",
    "todo.undone": "item=2",
    "todo.edit": "item=2 text=tea",
    "todo.delete": "item=2",
    "todo.move": "item=3 place=1",
    "kanban.add_card": 'title="write docs" column=doing',
    "kanban.move": "card=1 column=done",
    "kanban.assign": "card=1 owner=Ann",
    "kanban.discard": "card=1",
    "lamps.switch": "room=kitchen on=true",
    "lamps.dim": "room=hall percent=40",
    "lamps.paint": "room=hall color=red",
    "timer.start": "seconds=90",
    "timer.extend": "seconds=30",
    "scores.join": "player=Carl",
    "scores.award": "player=Ann points=3",
    "thermostat.set_temperature": "degrees=22",
    "thermostat.set_mode": "mode=eco",
    "thermostat.lock": "on=true",
    "thermostat.plan": "time=7:00 degrees=21 day=friday",
    "thermostat.unplan": "time=22:00",
    "thermostat.rename": "room=studio",
    "cart.put": "product=面包 amount=2",
    "cart.set_amount": "product=牛奶 amount=3",
    "cart.remove": "product=苹果",
    "cart.deliver": "way=加急",
    "cart.gift_wrap": "on=true",
    "cart.ship_to": 'name="Ann Lee" street="5 Main St"',
}
"""Arguments as the app shows them, and as a person may type them."""


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.name)
def test_each_action_is_reached_by_its_id_and_arguments(cls: type[Window], tmp_path: Path) -> None:
    """Every second one with its window's id in front; `make test-thorough` tries both of each.

    Actions without arguments are reached by their labels in the same way.
    """
    bad = list[str]()
    for number, action_id in enumerate(cls.actions):
        given = ARGUMENTS.get(f"{cls.name}.{action_id}", "")
        if not given and not IS_THOROUGH:
            continue
        call = f"{cls.name}_1.{action_id} {_as_called(given)}".strip()
        names = (f"{cls.name}_1.{action_id}", action_id)
        for name in names if IS_THOROUGH else names[number % 2 :][:1]:
            folder = tmp_path / name
            folder.mkdir()
            turn = scene(cls.name, "en").said(f"{name} {given}".strip(), folder)
            if turn.calls != (call,):
                bad.append(f"{name} {given}: {turn.calls or turn.text}")
    assert bad == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_action_is_reached_by_its_label(lang: Lang, tmp_path: Path) -> None:
    """Every fourth one in either language; `make test-thorough` tries all of them in both."""
    bad = list[str]()
    actions = [(cls.name, one) for cls in EVERY for one in cls.actions.values()]
    for name, action in actions if IS_THOROUGH else actions[2 * (lang == "zh") :: 4]:
        call, label = f"{name}_1.{action.id}", action.labelled(lang)
        (tmp_path / call).mkdir()
        turn = scene(name, lang).said(label, tmp_path / call)
        missing = [one.name for one in action.params.listing if not one.optional]
        asks = not turn.calls and call in turn.text and any(one in turn.text for one in missing)
        if not (asks if missing else turn.calls == (call,)):
            bad.append(f"{label}: {turn.calls or turn.text}")
    assert bad == []


def _as_called(given: str) -> str:
    """Return arguments as the call in short form has them."""
    known = {"metrics=cpu,memory": "metrics=['cpu', 'memory']", "tags=car": "tags=['car']",
             "tags=home": "tags=['home']", "=true": "=True", '"': ""}  # fmt: skip
    for old, new in known.items():
        given = given.replace(old, new)
    return given
