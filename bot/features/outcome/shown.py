"""What the screens show of questions: in a digest and stats, in their details, and on the Home tab."""

from collections.abc import Sequence
from datetime import date, datetime, time

from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.domain.week import Week
from bot.feature import Named, WeekPart
from bot.features.outcome import text
from bot.features.outcome.figures import OutcomeFigures
from bot.features.outcome.lists import ContradictedLists
from bot.services import Services
from bot.slack.blocks import Block
from bot.slack.invocation import Invocation
from bot.slack.members import MembershipError
from bot.store.figures import Place


class Screens:
    def __init__(
        self, services: Services, figures: OutcomeFigures, lists: ContradictedLists
    ) -> None:
        self._services = services
        self._figures = figures
        self._lists = lists

    async def standing_line(self, subject: Subject) -> str:
        report = await self._figures.of(subject)
        lines = [text.outcome_line(report.outcomes)]
        if report.contested:
            lines.append(text.contested_line(report.contested))
        return "\n".join(lines)

    async def week_part(
        self, place: Place, _: Week, named: Named, known_at: datetime | None
    ) -> WeekPart:
        """What waits for one assistant, and the scores of a channel that askers contradict; nothing
        of the past.
        """
        if known_at:
            return WeekPart(frozenset(), [])
        blocks = await self._lists.blocks(place) if place.channel_id else []
        if place.author_id:
            channel_ids = place.channel_id, *place.others
            waiting = await self._figures.waiting(place.team_id, channel_ids, place.author_id)
            names = await named(list(waiting))
            listed = text.waiting_blocks(
                waiting, names, self._services.clock(), self._services.identity.url
            )
            blocks = [*listed, *blocks]
        return WeekPart(frozenset(), blocks)

    async def week_details(self, place: Place, _: Week, named: Named) -> Sequence[Block]:
        watches = await self._services.store.watches.of(place.team_id, place.channel_id)
        shown = [watch for watch in watches if place.author_id in {None, watch.author_id}]
        names = await named([watch.author_id for watch in shown])
        blocks = list[Block]()
        for watch in shown:
            now = self._services.clock()
            shares, _since = await self._figures.around(subject_of(watch), now)
            member = names.get(watch.author_id)
            if member and shares.signs:
                blocks.append(text.shares_block(member.name, shares))
        return blocks

    async def questions_of(self, watch: Watch) -> str:
        return text.ALL_MEANT if await self._figures.are_all_meant(watch) else ""

    async def release_lines(self, subject: Subject, release: date) -> Sequence[str]:
        begin = datetime.combine(release, time(), self._services.schedule.zone)
        return text.release_lines(*await self._figures.around(subject, begin))

    async def home_waiting(self, person: Invocation) -> Sequence[Block]:
        """The questions that wait in channels of this person."""
        try:
            channels = await self._services.memberships.of(person.user_id)
        except MembershipError:
            return ()
        waiting = await self._figures.waiting(person.team_id, channels)
        names = await self._services.members.of_all(waiting)
        return text.waiting_blocks(
            waiting, names, self._services.clock(), self._services.identity.url
        )
