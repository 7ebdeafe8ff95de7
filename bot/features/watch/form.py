"""What somebody chose in the window on a watch, and what is wrong with it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

from bot.domain.watch import MOST_PEOPLE, Shows
from bot.features.watch import window_text
from bot.slack import ids
from bot.slack.blocks import ModalState
from bot.slack.members import Members, MembershipError, Memberships
from judge.rubric import Scale

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


_PATIENCE_S = 0.5  # Slack waits for 3 s, in which it is also asked who is in the channel


@dataclass(frozen=True)
class WatchChecks:
    """Checks what a window brings back."""

    members: Members
    memberships: Memberships
    own_ids: frozenset[str]

    async def errors(self, form: WatchForm, scale: Scale, *, is_watched: bool) -> dict[str, str]:
        errors = {} if form.share else {ids.BLOCK_ASSISTANT: window_text.NOT_SHOWN_YET}
        if form.author_id in self.own_ids or not (is_watched or await self._is_bot(form.author_id)):
            errors[ids.BLOCK_ASSISTANT] = window_text.NO_ASSISTANT
        its_per_day, its_floor = (ids.of_author(each, form.author_id) for each in (ids.BLOCK_PER_DAY, ids.BLOCK_FLOOR))
        for block_id, number, most in (
            (its_per_day, form.per_day, window_text.MOST_A_DAY),
            (ids.BLOCK_TOKENS, form.tokens, window_text.MOST_TOKENS),
        ):
            if number is not None and not (1 <= number <= most and number.is_integer()):
                errors[block_id] = window_text.off_limits(most)
        if form.floor is not None and not scale.low < form.floor < scale.high:
            errors[its_floor] = window_text.off_floor(scale)
        return errors

    async def kept_out(self, form: WatchForm) -> dict[str, str]:
        """What is wrong with the people who are to hear: an alert names figures of the channel."""
        people = [each for each in form.alerts_to if each != form.channel_id]
        block_id = ids.of_author(ids.BLOCK_ALERTS_TO, form.author_id)
        known = await self.members.of_all(people, _PATIENCE_S)
        if bots := [member.name for member in known.values() if member.is_bot]:
            return {block_id: window_text.no_readers(bots)}
        try:
            kept = await asyncio.gather(*(self.memberships.keeps_out(each, form.channel_id) for each in people))
        except MembershipError as exc:
            return {block_id: window_text.unsure(exc)}
        out = [each for each, is_out in zip(people, kept, strict=True) if is_out]
        names = [(await self.members.of(each)).name for each in out]
        return {block_id: window_text.kept_out(names)} if out else {}

    async def _is_bot(self, author_id: str) -> bool:
        return (await self.members.of(author_id)).is_bot
