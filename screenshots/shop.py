"""The small project and the conversation that the pictures show."""

import os
from pathlib import Path

from contextui.agent.approval import ApprovalGate
from contextui.agent.controller import InteractionController
from contextui.agent.models.scripted import ScriptedModel, Step, call
from contextui.model import Answer
from contextui.session.session import SessionOptions
from contextui.session.store import SessionStore
from contextui.tokens import Usage
from contextui.tui.app_session import AppSession
from contextui.windowing.finding.registry import discover
from contextui.words import Lang

CART = '''\
from decimal import Decimal
from shop.money import Money, ZERO


def total(items: list[Item]) -> Money:
    """Sum of the cart."""
    gross = sum((i.price * i.count
                 for i in items), ZERO)
    return gross


def count(items: list[Item]) -> int:
    """How many things are in the cart."""
    return sum(item.count for item in items)
'''
TESTS = """\
import pytest
from shop.cart import count, total
from shop.money import ZERO, Money


def test_total_of_empty_cart():
    assert total([]) == ZERO
"""
PROMPTS: dict[Lang, list[str]] = {
    "en": [
        "Money is Decimal, never float.",
        "Open cart.py and show me how busy the box is.",
        "Put milk, eggs and bread on a list. Eggs are done.",
        "Give total() a discount, save it, and put “write tests” on the list.",
    ],
    "zh": [
        "金额一律用 Decimal，不用 float。",
        "打开 cart.py，再看看这台机器有多忙。",
        "把牛奶、鸡蛋和面包放进待办，鸡蛋已经买了。",
        "给 total() 加上折扣，保存，再把“写测试”放进待办。",
    ],
}
THINGS: dict[Lang, list[str]] = {
    "en": ["milk", "eggs", "bread", "write tests"],
    "zh": ["牛奶", "鸡蛋", "面包", "写测试"],
}
ANSWERS: dict[Lang, list[str]] = {
    "en": [
        "Noted. I will keep every amount a `Decimal`.",
        "The tests cover carts without a discount. The machine is calm.",
        "The list has three items, eggs are ticked off.",
        "`total()` now takes a `discount` between 0 and 1 and refuses anything else. Carts "
        "without one cost what they did, so the tests still pass. I would like to save "
        "`src/shop/cart.py`.",
        "Saved. Writing tests for it is the next thing on the list.",
    ],
    "zh": [
        "记下了，所有金额都用 `Decimal`。",
        "现有测试覆盖没有折扣的购物车。机器不忙。",
        "清单里有三项，鸡蛋已勾掉。",
        "`total()` 现在接受 0 到 1 之间的 `discount`，其他数值会报错。没有折扣的购物车结果不变，"
        "所以现有测试照样通过。我想保存 `src/shop/cart.py`。",
        "已保存。清单上的下一件事是写测试。",
    ],
}


def make_project(home: Path) -> Path:
    """A project of a few files under this home."""
    folder = home / "src" / "shop"
    (folder / "src" / "shop").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / "src" / "shop" / "cart.py").write_text(CART)
    (folder / "tests" / "test_cart.py").write_text(TESTS * 12)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def make_desk(home: Path, folder: Path, lang: Lang) -> AppSession:
    """A session in that folder with a model that plays the conversation."""
    os.environ["HOME"] = str(home)
    registry = discover()
    options = SessionOptions(classes=registry.classes(), lang=lang)
    session = SessionStore(home / ".contextui", options).create(folder)
    controller = InteractionController(
        model=ScriptedModel(*_script(lang), name="claude-sonnet-5-5"),
        context=session.context,
        approval=ApprovalGate("ask"),
    )
    controller.install_prompt()
    return AppSession(session, controller, registry)


def _script(lang: Lang) -> list[Step]:
    things, answers = THINGS[lang], ANSWERS[lang]

    def do(window: str, action: str, **params: object) -> dict[str, object]:
        given = {"window_id": window, "action_id": action, "params": params}
        return dict(call("action", **given))

    docstring = '    """Sum of the cart."""\n'
    checked = (
        '    """Sum of the cart, discount in 0..1."""\n'
        "    if not 0 <= discount <= 1:\n"
        '        raise ValueError(f"discount {discount}")\n'
    )
    signature = (
        "def total(items: list[Item],\n          discount: Decimal = Decimal(0)) -> Money:\n"
    )
    return [
        _costing(answers[0], 900, 40),
        [
            call("create", name="editor", args={"path": "src/shop/cart.py"}),
            call("read_file", path="tests/test_cart.py"),
            call("create", name="monitor"),
        ],
        _costing(answers[1], 2_100, 60),
        call("create", name="todo", args={"items": things[:3]}),
        do("todo_1", "done", item=things[1]),
        _costing(answers[2], 3_000, 50),
        [
            do("editor_1", "replace", old="def total(items: list[Item]) -> Money:\n",
               new=signature),
            do("editor_1", "replace", old=docstring, new=checked),
            do("editor_1", "replace", old="    return gross\n",
               new="    return gross * (1 - discount)\n"),
            do("todo_1", "add", text=things[3]),
        ],
        [answers[3], do("editor_1", "save")],
        answers[4],
    ]  # fmt: skip


def _costing(words: str, read: int, answered: int) -> Answer:
    usage = Usage(
        input_tokens=read // 4, cache_read_input_tokens=read, output_tokens=answered,
        cache_creation_input_tokens=read // 6,
    )  # fmt: skip
    return Answer(({"type": "text", "text": words},), usage=usage)
