"""What models cost: `prices.toml` of the package, and the person's own in contextui's home."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from contextui.agent.models.servers import Rates
from contextui.plain_file import read_plain
from contextui.text import one_line, shown_path
from contextui.tokens import Usage
from contextui.words import Message, msg

PRICES_FILE = "prices.toml"

_LARGEST = 1_000_000
_MOST = 100_000.0  # dollars for a million tokens
_FIELDS = ("input", "output", "cached", "written")


def cost_of(rates: Rates, usage: Usage) -> float | None:
    """Return the dollars of a usage; None if it has tokens whose price is unknown."""
    parts = (
        (usage.input_tokens, rates.input),
        (usage.output_tokens, rates.output),
        (usage.cache_read_input_tokens, rates.cached),
        # some providers charge nothing extra for writing
        (
            usage.cache_creation_input_tokens,
            rates.input if rates.written is None else rates.written,
        ),
    )
    total = 0.0
    for tokens, price in parts:
        if tokens and price is None:
            return None
        total += tokens * (price or 0.0) / 1_000_000
    return total


def rates_of(provider: str, model: str, home: Path | None = None) -> Rates | None:
    """Return what a model costs; None if its price is not known."""
    found, _ = load_prices(home)
    return found.get(f"{provider}/{model}")


def load_prices(home: Path | None = None) -> tuple[dict[str, Rates], list[Message]]:
    """Load all prices, and a message for each fault of the person's own file.

    A fault loses only the entry that has it; an invalid file is ignored as a whole.
    """
    found, faults = dict(_shipped()), list[Message]()
    if home is None:
        return found, faults
    path = home / PRICES_FILE
    try:
        given = tomllib.loads(read_plain(path, _LARGEST).decode("utf-8-sig"))
    except FileNotFoundError:
        return found, faults
    except (OSError, ValueError, RecursionError) as error:
        reason = one_line(str(error), 160) or type(error).__name__
        text = msg("{file} is ignored: {why}.")
        faults.append(Message(text, {"file": shown_path(path), "why": reason.rstrip(".")}))
        return found, faults
    for name, entry in given.items():
        rates = _rates(entry)
        if rates is None:
            values = {"file": shown_path(path), "name": one_line(name, 60)}
            text = msg("{file}: the prices of {name} are ignored; they must be numbers in dollars.")
            faults.append(Message(text, values))
        else:
            found[name] = rates
    return found, faults


@cache
def _shipped() -> Mapping[str, Rates]:
    text = resources.files(__package__).joinpath(PRICES_FILE).read_text("utf-8")
    entries = {name: _rates(entry) for name, entry in tomllib.loads(text).items()}
    return {name: rates for name, rates in entries.items() if rates is not None}


def _rates(entry: Any) -> Rates | None:
    if not isinstance(entry, Mapping):
        return None
    numbers: dict[str, float] = {}
    for name in _FIELDS:
        value = entry.get(name)
        if value is None:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST:  # which no infinity and no NaN is
            return None
        numbers[name] = float(value)
    if not {"input", "output"} <= numbers.keys():
        return None
    return Rates(numbers["input"], numbers["output"], numbers.get("cached"), numbers.get("written"))
