"""What models cost, and price files with nonsense in them."""

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from contextui.agent.models.factory import create_model
from contextui.agent.models.prices import cost_of, load_prices, rates_of
from contextui.agent.models.remote import RemoteModel
from contextui.agent.models.servers import Rates
from contextui.config.sources import load_settings
from contextui.tokens import Usage
from contextui.words import Words

MILLION = 1_000_000


def test_each_kind_of_token_has_its_price() -> None:
    rates = Rates(2, 10, 0.2, 2.5)
    usage = Usage(MILLION, MILLION, MILLION, MILLION)
    assert cost_of(rates, usage) == pytest.approx(14.7)
    assert cost_of(rates, Usage()) == 0


def test_tokens_without_a_price_make_the_cost_unknown() -> None:
    assert cost_of(Rates(2, 10), Usage(cache_read_input_tokens=1)) is None
    assert cost_of(Rates(2, 10), Usage(MILLION)) == 2


def test_every_entry_has_its_date_and_its_source() -> None:
    text = resources.files("contextui.agent.models").joinpath("prices.toml").read_text("utf-8")
    entries = tomllib.loads(text)
    assert entries
    for name, entry in entries.items():
        assert "/" in name
        assert entry["source"].startswith("https://")
        assert entry["date"].year >= 2026


def test_nonsense_loses_its_own_entry_only_in_one_clear_line(tmp_path: Path) -> None:
    for entry in (
        'input = "cheap"\noutput = 1',
        "input = 1",
        "input = -1\noutput = 1",
        "input = nan\noutput = 1",
        "input = inf\noutput = 1",
        "input = true\noutput = 1",
        "input = 1e300\noutput = 1",
        f"input = 1{'0' * 400}\noutput = 1",
    ):
        good = '["x/good"]\ninput = 1\noutput = 2\n'
        (tmp_path / "prices.toml").write_text(f'{good}["x/bad"]\n{entry}\n')
        found, faults = load_prices(tmp_path)
        assert found["x/good"] == Rates(1, 2), entry
        assert "x/bad" not in found, entry
        assert "anthropic/claude-opus-5" in found, entry
        [fault] = map(Words("en"), faults)
        assert "x/bad" in fault, entry
        assert "\n" not in fault, entry


def test_a_file_that_is_no_price_list_is_one_clear_line(tmp_path: Path) -> None:
    for data in (b"{", b"\xff\xfe", b"a = [" * 9_999, b"x = 3\n", b"\x1b[2J"):
        (tmp_path / "prices.toml").write_bytes(data)
        found, faults = load_prices(tmp_path)
        assert "anthropic/claude-opus-5" in found, data
        [fault] = map(Words("en"), faults)
        assert fault.isprintable(), data


def test_the_persons_own_price_counts(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('["openai/gpt-x"]\ninput = 7\noutput = 8\n')
    assert rates_of("openai", "gpt-x", tmp_path) == Rates(7, 8)
    assert rates_of("openai", "gpt-y", tmp_path) is None
    loaded = load_settings({"model": "openai/gpt-x"}, {"OPENAI_API_KEY": "k"}, tmp_path, tmp_path)
    model = create_model(loaded.connection)
    assert isinstance(model, RemoteModel)
    assert model.cost(Usage(MILLION)) == 7
    elsewhere = {"model": "openai/gpt-x", "base_url": "http://127.0.0.1:9"}
    moved = create_model(load_settings(elsewhere, {}, tmp_path, tmp_path).connection)
    assert isinstance(moved, RemoteModel)
    assert moved.cost(Usage(MILLION)) is None  # another server has other prices
