"""Parses what the person typed after `/judge digest`; a ValueError says which word is wrong, and why."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from bot.domain.week import DAYS, parse_day, parse_time, parse_zone
from bot.slack.invocation import unknown

_FILLERS = {"every", "at", "in"}
# "fryday" is a misspelt day, not a time zone.
_CLOSE = 0.7


def parse_digest(text: str) -> Mapping[str, Any]:
    """The settings that `/judge digest` changes, by their names in `ChannelSettings`."""
    match text.lower().split():
        case []:
            return {}
        case ["off"]:
            return {"is_digest_on": False}
        case ["on", *words]:
            return {"is_digest_on": True} | _schedule_changes([word for word in words if word not in _FILLERS])
        case _:
            raise unknown(text)


def _schedule_changes(words: Sequence[str]) -> dict[str, Any]:
    """The settings that the words change; all words for one setting are joined, so two days are an error."""
    found: dict[str, list[str]] = {}
    for word in words:
        is_day = get_close_matches(word, [day[: len(word)] for day in DAYS], cutoff=_CLOSE)
        setting = "digest_time" if word[0].isdigit() else "digest_day" if is_day else "digest_tz"
        found.setdefault(setting, []).append(word)
    return {setting: _PARSERS[setting](" ".join(name)) for setting, name in found.items()}


_PARSERS: Mapping[str, Callable[[str], str]] = {
    "digest_day": parse_day,
    "digest_time": lambda text: f"{parse_time(text):%H:%M}",
    "digest_tz": lambda text: parse_zone(text).key,
}
