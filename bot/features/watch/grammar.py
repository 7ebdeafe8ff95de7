"""The words after `/judge watch`."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bot.domain.watch import Shows
from bot.slack.invocation import unknown

_WATCH = re.compile(
    r"off +@(?P<ended>[^@]+?)(?P<ended_everywhere> +everywhere)?"
    r"|@(?P<name>[^@]+?)(?P<everywhere> +everywhere)?(?:(?P<off> +off)"
    r"|( +(?P<share>all|1 +in +(?P<one_in>[1-9][0-9]{0,3})))?"
    r"( +(?P<per_day>[1-9][0-9]{0,4}) +a +day)?"
    r"( +(?P<shows>nothing|reaction|verdict))?"
    r"( +alert +(?P<alert>here|me|off))?(?P<low> +alert +low(?P<not_low> +off)?)?)",
    re.IGNORECASE,
)
_LONGEST = 300  # characters; a name has 80 at most
_VALUES: Mapping[str, Callable[[re.Match[str]], Any]] = {
    "share": lambda found: 1 / int(found["one_in"] or 1),
    "per_day": lambda found: int(found["per_day"]),
    "shows": lambda found: Shows(found["shows"].lower()),
    "alert": lambda found: found["alert"].lower(),
    "low": lambda found: not found["not_low"],
}


class WatchWords(NamedTuple):
    """What stands after `/judge watch`: an assistant, and what to change of its watch, here or in
    all public channels.

    The changes have the names of `Watch`, but `alert` says who is told when the assistant gets
    worse ("here", "me" or "off"), and `low` whether also of single low replies. None ends the
    watch. Without an assistant, nothing is changed.
    """

    assistant: str
    changes: Mapping[str, Any] | None
    is_everywhere: bool = False


def parse_watch(text: str) -> WatchWords:
    """The words after `/judge watch`; the assistant's name may contain spaces."""
    if not text:
        return WatchWords("", None)
    found = _WATCH.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise ValueError(f"{unknown(text)}: I watch one assistant at a time, by `@` and its name")
    is_everywhere = bool(found["everywhere"] or found["ended_everywhere"])
    if found["off"] or found["ended"]:
        name = found["ended"] or found["name"]
        return WatchWords(name.strip(), None, is_everywhere)
    changes = {name: value(found) for name, value in _VALUES.items() if found[name]}
    return WatchWords(found["name"].strip(), changes, is_everywhere)
