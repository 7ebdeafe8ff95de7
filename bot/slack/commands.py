"""Parses what the person typed after `/judge`.

The functions raise ValueError for what they cannot read; its message says which word is wrong, and why.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from bot.domain.watch import Shows
from bot.domain.week import DAYS, parse_day, parse_time, parse_zone
from bot.slack.messages import Permalink, parse_permalink
from bot.slack.mrkdwn import to_plain

_FILLERS = {"every", "at", "in"}
_LONGEST = 80
# "fryday" is a misspelt day, not a time zone.
_CLOSE = 0.7


@dataclass(frozen=True)
class Texts:
    """`question | response`; either may be empty."""

    question: str
    response: str


@dataclass(frozen=True)
class Word:
    """A subcommand and the text after it, or anything else that is neither a link nor two texts."""

    word: str
    rest: str = ""


@dataclass(frozen=True)
class DigestRequest:
    """What `/judge digest` should do; `changes` has the settings to change, by their names in `ChannelSettings`."""

    action: Literal["on", "off", "people", "state", "help"]
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StatsRequest:
    """What `/judge stats` is about, as typed without `#` or `@`; None means this channel, or all its authors."""

    channel: str | None = None
    author: str | None = None


@dataclass(frozen=True)
class WatchRequest:
    """What `/judge watch` should do.

    `author` is the assistant as typed, and `changes` has the settings to change, by their names in `Watch`. `alert`
    says who is told when the assistant gets worse; None changes nothing. If only the assistant is given, a window asks
    for the rest.
    """

    action: Literal["state", "window", "set", "off"]
    author: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    alert: Literal["here", "me", "off"] | None = None


@dataclass(frozen=True)
class RubricRequest:
    """What `/judge rubric` should do, and with which rubric and model; None is the model of the settings."""

    action: Literal["state", "use", "view", "edit", "delete", "improve"]
    name: str = ""
    model: str | None = None


def parse_command(text: str) -> Permalink | Texts | Word | None:
    """The request in a command's text, or None if there is no text.

    Two texts are split at the first `|` with spaces around it, or else at the first `|`: a response may contain tables.
    """
    text = text.strip()
    if not text:
        return None
    link = parse_permalink(text)
    if link:
        return link
    plain = to_plain(text)
    separator = " | " if " | " in plain else "|"
    question, bar, response = plain.partition(separator)
    if bar:
        return Texts(question.strip(), response.strip())
    word, *rest = plain.split(maxsplit=1)
    return Word(word.lower(), "".join(rest))


def parse_digest(text: str) -> DigestRequest:
    """The request in the text after `/judge digest`."""
    match text.lower().split():
        case []:
            return DigestRequest("state")
        case ["off" | "help" as action]:
            return DigestRequest(action)
        case ["people", "on" | "off" as switch]:
            return DigestRequest("people", {"ranks_people": switch == "on"})
        case ["on", *words]:
            return DigestRequest("on", _schedule_changes([word for word in words if word not in _FILLERS]))
        case _:
            raise ValueError(f"I do not know {text[:_LONGEST]!r}")


def parse_stats(text: str) -> StatsRequest:
    """The request in the text after `/judge stats`; names may contain spaces."""
    name = text[1:].strip()
    if not text:
        return StatsRequest()
    if text.startswith("#") and name:
        return StatsRequest(channel=name)
    if text.startswith("@") and name:
        return StatsRequest(author=name)
    if text.lower() == "me":
        return StatsRequest(author="me")
    raise ValueError(f"I do not know {text[:_LONGEST]!r}")


def parse_watch(text: str) -> WatchRequest:
    """The request in the text after `/judge watch`: an assistant, whose name may contain spaces, and its settings."""
    if not text:
        return WatchRequest("state")
    found = _WATCH.fullmatch(text)
    if found is None:
        raise ValueError(f"I do not know {text[:_LONGEST]!r}: I watch one assistant at a time, by `@` and its name")
    if found["off"] or found["ended"]:
        return WatchRequest("off", (found["ended"] or found["name"]).strip())
    name = found["name"].strip()
    changes: dict[str, Any] = {}
    if found["share"]:
        changes["share"] = 1 / int(found["one_in"] or 1)
    if found["per_day"]:
        changes["per_day"] = int(found["per_day"])
    if found["shows"]:
        changes["shows"] = Shows(found["shows"].lower())
    alert: Any = found["alert"] and found["alert"].lower()
    return WatchRequest("set" if changes or alert else "window", name, changes, alert)


def parse_rubric(text: str) -> RubricRequest:
    """The request in the text after `/judge rubric`; names of models keep their upper and lower case."""
    match text.split():
        case []:
            return RubricRequest("state")
        case ["use", name, model]:
            return RubricRequest("use", name.lower(), model)
        case ["use" | "edit" | "delete" as action, name]:
            return RubricRequest(action, name.lower())
        case ["edit" | "improve" as action]:
            return RubricRequest(action)
        case _:
            raise ValueError(f"I do not know {text[:_LONGEST]!r}")


def _schedule_changes(words: Sequence[str]) -> dict[str, str]:
    """The settings that the words change; all words for one setting are joined, so two days are an error."""
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(_setting(word), []).append(word)
    return {setting: _PARSERS[setting](" ".join(name)) for setting, name in found.items()}


def _setting(word: str) -> str:
    if word[0].isdigit():
        return "digest_time"
    return "digest_day" if get_close_matches(word, [day[: len(word)] for day in DAYS], cutoff=_CLOSE) else "digest_tz"


_WATCH = re.compile(
    r"off +@(?P<ended>[^@]+)"
    r"|@(?P<name>[^@]+?)(?:(?P<off> +off)"
    r"|( +(?P<share>all|1 +in +(?P<one_in>[1-9][0-9]{0,3})))?"
    r"( +(?P<per_day>[1-9][0-9]{0,4}) +a +day)?"
    r"( +(?P<shows>nothing|reaction|verdict))?"
    r"( +alert +(?P<alert>here|me|off))?)",
    re.IGNORECASE,
)
_PARSERS: Mapping[str, Callable[[str], str]] = {
    "digest_day": parse_day,
    "digest_time": lambda text: f"{parse_time(text):%H:%M}",
    "digest_tz": lambda text: parse_zone(text).key,
}
