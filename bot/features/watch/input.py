"""Parses what the person typed after `/judge watch`, and what they clicked."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from bot.domain.watch import Shows
from bot.slack.blocks import ModalState
from bot.slack.invocation import clicked_value, to_invocation, unknown

_WATCH = re.compile(
    r"off +@(?P<ended>[^@]+)"
    r"|@(?P<name>[^@]+?)(?:(?P<off> +off)"
    r"|( +(?P<share>all|1 +in +(?P<one_in>[1-9][0-9]{0,3})))?"
    r"( +(?P<per_day>[1-9][0-9]{0,4}) +a +day)?"
    r"( +(?P<shows>nothing|reaction|verdict))?"
    r"( +alert +(?P<alert>here|me|off))?(?P<low> +alert +low(?P<not_low> +off)?)?)",
    re.IGNORECASE,
)
_VALUES: Mapping[str, Callable[[re.Match[str]], Any]] = {
    "share": lambda found: 1 / int(found["one_in"] or 1),
    "per_day": lambda found: int(found["per_day"]),
    "shows": lambda found: Shows(found["shows"].lower()),
    "alert": lambda found: found["alert"].lower(),
    "low": lambda found: not found["not_low"],
}


def parse_watch(text: str) -> tuple[str, dict[str, Any] | None]:
    """The assistant in the text after `/judge watch`, whose name may contain spaces, and what to change of its watch.

    The changes have the names of `Watch`, but `alert` says who is told when the assistant gets worse ("here", "me" or
    "off"), and `low` whether also of single low replies. None ends the watch. Without an assistant, nothing is changed.
    """
    if not text:
        return "", None
    found = _WATCH.fullmatch(text)
    if found is None:
        raise ValueError(f"{unknown(text)}: I watch one assistant at a time, by `@` and its name")
    if found["off"] or found["ended"]:
        return (found["ended"] or found["name"]).strip(), None
    return found["name"].strip(), {name: value(found) for name, value in _VALUES.items() if found[name]}


def clicked_watch(body: dict[str, Any]) -> tuple[str, str]:
    """The channel and the assistant of a button; without a channel, the one in which it was clicked."""
    channel_id, _, author_id = clicked_value(body).rpartition(":")
    return channel_id or to_invocation(body).channel_id, author_id


class WatchState(ModalState):
    """What the window remembers.

    `told_at` is the channel of the message in which it was opened. `is_long`: it shows all fields. `a_day`: so many
    replies a day are expected.
    """

    told_at: str | None = None
    is_long: bool = False
    a_day: Annotated[float, Field(ge=0, le=100_000)] = 0
