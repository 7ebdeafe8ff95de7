"""What the screens show of questions, and the replies whose scores their askers contradict: good
ones that they contested, low ones that they confirmed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time

from slack_bolt.async_app import AsyncApp

from bot.domain.standing import Subject, subject_of
from bot.domain.watch import Watch
from bot.domain.week import Week
from bot.feature import Named, WeekPart
from bot.features.outcome import text
from bot.features.outcome.figures import OutcomeFigures
from bot.figures.lowest import low_blocks
from bot.figures.outcomes import ScoredReply
from bot.figures.week import passed
from bot.pipeline.text import none_watched
from bot.services import Services
from bot.slack.blocks import Block, button, section
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.members import MembershipError, called
from bot.slack.messenger import Post
from bot.store.figures import Place

ACTION_CONTRADICTED = "list_contradicted_scores"
WORD = "contested"
_MOST = 5
_PRESSED = re.compile(r"(?P<channel>[CG][A-Z0-9]+) (?P<assistant>[A-Z0-9]*)")
"""The value of the button, which the buttons in its list remember."""


class Screens:
    def __init__(self, services: Services, figures: OutcomeFigures) -> None:
        self._services = services
        self._figures = figures

    def register(self, app: AsyncApp) -> None:
        @on_click(app, ACTION_CONTRADICTED)
        async def show(person: Invocation, _: Raw) -> None:
            # As the answer to a word, which is shown anew once a button in it was pressed.
            said = await self._services.answer(person, f"{WORD} {person.value}")
            await self._services.messenger.answer(person.recipient, said)

    async def answer(self, person: Invocation, typed: str) -> Post | str:
        """Answers `/judge contested`: the list of this channel or of one assistant in it, or that of
        a button's channel and assistant. The reader is told the scores in it by this.
        """
        pressed = _PRESSED.fullmatch(typed)
        channel_id = pressed["channel"] if pressed else person.channel_id
        name = pressed["assistant"] if pressed else typed
        if refusal := await self._services.access.refusal(
            person, "scores", channel_id, is_change=False
        ):
            return refusal
        watches = await self._watches(Place(person.team_id, channel_id))
        names = {each.author_id: await self._name_of(each.author_id) for each in watches}
        meant = called(name, names) if name else names
        if not meant:
            return none_watched(WORD, name, sorted(set(names.values())))
        found = await self._contradicted([each for each in watches if each.author_id in meant])
        return text.contradicted_post(await self._lists(person, channel_id, found))

    async def _lists(
        self, person: Invocation, channel_id: str, found: Sequence[ScoredReply]
    ) -> Mapping[str, Sequence[Block]]:
        lists = dict[str, Sequence[Block]]()
        for title, is_good in text.CONTRADICTED.items():
            alike = [reply.id for reply in found if reply.is_good == is_good]
            lists[title] = await self._listed(person, channel_id, sorted(alike)[-_MOST:])
        return lists

    async def _name_of(self, author_id: str | None) -> str:
        return await self._services.members.name_of(author_id or "")

    async def _listed(
        self, person: Invocation, channel_id: str, case_ids: Sequence[int]
    ) -> Sequence[Block]:
        services = self._services
        await services.store.assignments.note_told(person.team_id, case_ids, person.user_id)
        place = Place(person.team_id, channel_id)
        replies = await services.store.tallies.low_among(place, case_ids)
        names = [await self._name_of(reply.author_id) for reply in replies]
        return low_blocks(replies, names, services.identity.url)

    async def _contradicted(self, watches: Sequence[Watch]) -> Sequence[ScoredReply]:
        """The replies in the channels of these watches whose scores the askers contradict."""
        found = list[ScoredReply]()
        for watch in watches:
            report = await self._figures.of(subject_of(watch))
            found += [each for each in report.contradicted if each.channel_id == watch.channel_id]
        return found

    async def _watches(self, place: Place) -> Sequence[Watch]:
        watches = await self._services.store.watches.of(place.team_id, place.channel_id)
        return [watch for watch in watches if place.author_id in {None, watch.author_id}]

    async def standing_line(self, subject: Subject, until: datetime) -> str:
        if not self._figures.keeps_weeks_before(until):
            return ""
        report = await self._figures.of(subject, until)
        lines = [text.outcome_line(report.outcomes)]
        if report.contested:
            lines.append(text.contested_line(report.contested))
        return "\n".join(lines)

    async def week_part(self, place: Place, _: Week, named: Named, is_past: bool) -> WeekPart:
        """What waits for one assistant, and how many scores of a channel the askers contradict;
        nothing of the past.
        """
        blocks = list[Block]()
        if is_past:
            return WeekPart(frozenset(), blocks)
        if place.author_id:
            channel_ids = place.channel_id, *place.others
            blocks += await self._waiting(place.team_id, channel_ids, named, place.author_id)
        if place.channel_id:
            blocks += await self._contradicted_line(place)
        return WeekPart(frozenset(), blocks)

    async def _contradicted_line(self, place: Place) -> Sequence[Block]:
        found = await self._contradicted(await self._watches(place))
        if not found:
            return ()
        good = sum(reply.is_good for reply in found)
        line = section(text.contradicted_line(good, len(found) - good))
        value = f"{place.channel_id} {place.author_id or ''}"
        return [line | {"accessory": button("List them", ACTION_CONTRADICTED, value)}]

    async def week_details(self, place: Place, week: Week, named: Named) -> Sequence[Block]:
        watches = await self._watches(place)
        names = await named([watch.author_id for watch in watches])
        blocks = list[Block]()
        for watch in watches:
            until = passed(week, self._services.clock()).end
            shares, _since = await self._figures.around(subject_of(watch), until)
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
        return await self._waiting(person.team_id, channels, self._services.members.of_all)

    async def _waiting(
        self,
        team_id: str,
        channel_ids: Collection[str],
        named: Named,
        author_id: str | None = None,
    ) -> Sequence[Block]:
        waiting = await self._figures.waiting(team_id, channel_ids, author_id)
        names = await named(list(waiting))
        now = self._services.clock()
        return text.waiting_blocks(waiting, names, now, self._services.identity.url)
