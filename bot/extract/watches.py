"""What the window of a watch brings back, when something is chosen in it and when it is submitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

from bot.domain.watch import MOST_PEOPLE, Shows
from bot.slack import ids
from bot.slack.modal_state import ModalState

Raw = dict[str, Any]


@dataclass(frozen=True)
class WatchForm:
    """What a person has chosen for an assistant in a channel.

    Numbers that are none are `nan`; None is an empty field.

    Attributes:
        share: 0 where the window does not show this assistant's fields yet, so that none of them says anything.
        alerts_to: The channel if it is to hear, and the people.
        tokens: What all watches of the channel may take in a day.
        version: Of what was set when the window was opened.
    """

    channel_id: str
    author_id: str
    share: float
    per_day: float | None
    shows: Shows
    alerts_to: tuple[str, ...]
    floor: float | None
    tokens: float | None
    version: str


def to_watch_form(body: Raw) -> WatchForm:
    """The window's fields, as they are now."""
    view = body["view"]
    values = view["state"]["values"]
    state = ModalState.from_private_metadata(view.get("private_metadata") or "")
    channel_id = state.channel_id or ""
    author_id = _option(values, ids.BLOCK_ASSISTANT)

    def its(block_id: str) -> str:
        return ids.of_author(block_id, author_id)

    one_in = _option(values, its(ids.BLOCK_SHARE))
    hears_here = _state(values, its(ids.BLOCK_ALERTS_HERE)).get("selected_options")
    people = _state(values, its(ids.BLOCK_ALERTS_TO)).get("selected_users") or []
    return WatchForm(
        channel_id=channel_id,
        author_id=author_id,
        share=1 / int(one_in) if one_in else 0,
        per_day=_number(values, its(ids.BLOCK_PER_DAY)),
        shows=Shows(_option(values, its(ids.BLOCK_SHOWS)) or Shows.NOTHING),
        alerts_to=(*((channel_id,) if hears_here else ()), *people[:MOST_PEOPLE]),
        floor=_number(values, its(ids.BLOCK_FLOOR)),
        tokens=_number(values, ids.BLOCK_TOKENS),
        version=state.version or "",
    )


def _state(values: Mapping[str, Raw], block_id: str) -> Raw:
    return (values.get(block_id) or {}).get(block_id) or {}


def _option(values: Mapping[str, Raw], block_id: str) -> str:
    chosen = _state(values, block_id).get("selected_option")
    return str(chosen["value"]) if chosen else ""


def _number(values: Mapping[str, Raw], block_id: str) -> float | None:
    typed = _state(values, block_id).get("value")
    try:
        return float(typed) if typed else None
    except ValueError:
        return nan
