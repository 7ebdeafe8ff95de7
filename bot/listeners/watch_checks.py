"""What is wrong with what somebody chose in the window of a watch, by block."""

import asyncio
from dataclasses import dataclass

from bot.extract.watches import WatchForm
from bot.slack import ids
from bot.slack.authors import Members
from bot.slack.memberships import MembershipError, Memberships
from bot.views import watch_window as words
from judge.rubric import Scale

_PATIENCE_S = 0.5  # Slack waits for 3 s, in which it is also asked who is in the channel


@dataclass(frozen=True)
class WatchChecks:
    """Checks what a window brings back.

    Attributes:
        members: Who is a bot.
        memberships: Who may hear of a channel.
        own_ids: The app's own ids; it does not score itself.
    """

    members: Members
    memberships: Memberships
    own_ids: frozenset[str]

    async def errors(self, form: WatchForm, scale: Scale, *, is_watched: bool) -> dict[str, str]:
        """What is wrong with the fields, by block."""
        errors = {} if form.share else {ids.BLOCK_ASSISTANT: words.NOT_SHOWN_YET}
        if form.author_id in self.own_ids or not (is_watched or await self._is_bot(form.author_id)):
            errors[ids.BLOCK_ASSISTANT] = words.NO_ASSISTANT
        its_per_day, its_floor = (ids.of_author(each, form.author_id) for each in (ids.BLOCK_PER_DAY, ids.BLOCK_FLOOR))
        for block_id, number, most in (
            (its_per_day, form.per_day, words.MOST_A_DAY),
            (ids.BLOCK_TOKENS, form.tokens, words.MOST_TOKENS),
        ):
            if number is not None and not (1 <= number <= most and number.is_integer()):
                errors[block_id] = words.off_limits(most)
        if form.floor is not None and not scale.low < form.floor < scale.high:
            errors[its_floor] = words.off_floor(scale)
        return errors

    async def kept_out(self, form: WatchForm) -> dict[str, str]:
        """What is wrong with the people who are to hear: an alert names figures of the channel."""
        people = [each for each in form.alerts_to if each != form.channel_id]
        block_id = ids.of_author(ids.BLOCK_ALERTS_TO, form.author_id)
        known = await self.members.of_all(people, _PATIENCE_S)
        if bots := [member.name for member in known.values() if member.is_bot]:
            return {block_id: words.no_readers(bots)}
        try:
            kept = await asyncio.gather(*(self.memberships.keeps_out(each, form.channel_id) for each in people))
        except MembershipError as exc:
            return {block_id: words.unsure(exc)}
        out = [each for each, is_out in zip(people, kept, strict=True) if is_out]
        names = [(await self.members.of(each)).name for each in out]
        return {block_id: words.kept_out(names)} if out else {}

    async def _is_bot(self, author_id: str) -> bool:
        return (await self.members.of(author_id)).is_bot
