"""What people see of topics: `/judge topics`, the part of a digest, and what to write."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from slack_bolt.async_app import AsyncApp

from bot.domain.standing import Standing, Subject, subject_of
from bot.domain.week import Week
from bot.feature import Named, WeekPart
from bot.features.topics import ids, text
from bot.features.topics.figures import TopicFigures
from bot.features.topics.sorting import read_words
from bot.features.topics.writing import Gap, to_gaps, without_mention
from bot.figures.quality import grouped
from bot.pipeline.row_file import NEEDED_SCOPE, send_rows
from bot.pipeline.text import NOT_YOURS, none_watched, unsure_of_membership
from bot.services import Services
from bot.slack import blocks as ui
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.members import MembershipError, called
from bot.slack.messenger import Post
from bot.slack.mrkdwn import clip
from bot.store.figures import Place
from bot.store.standings import Standings
from judge.rows.files import encode

_MOST_SHOWN = 5
_MOST_GAPS = 10
_MOST_GROUPS = 3


class Screens:
    def __init__(self, services: Services, figures: TopicFigures) -> None:
        self._services = services
        self._figures = figures

    def register(self, app: AsyncApp) -> None:
        @on_click(app, ids.ACTION_TOPICS, ids.ACTION_WRITE, ids.ACTION_FILE)
        async def show(person: Invocation, _: Raw) -> None:
            said = await self._answer_click(person)
            await self._services.messenger.answer(person.recipient, said)

    async def answer(self, person: Invocation, typed: str) -> Post | str:
        """Answers `/judge topics`, for one assistant or for all of a channel."""
        try:
            visible = await self._visible(person)
        except MembershipError as exc:
            return unsure_of_membership(exc)
        here = [
            subject
            for subject, channels in visible.items()
            if typed or person.is_direct or person.channel_id in channels
        ]
        names = {each.author_id: await self._name_of(each) for each in here}
        meant = called(typed, names) if typed else names
        shown = [subject for subject in here if subject.author_id in meant]
        if not shown:
            return none_watched(text.WORD, typed, sorted(set(names.values())))
        tables = [await self._table(subject) for subject in shown[:_MOST_SHOWN]]
        return text.topics_post([block for table in tables for block in table])

    async def week_part(self, place: Place, _: Week, named: Named, is_past: bool) -> WeekPart:
        """A line on the topics of each watched assistant; nothing of the past."""
        blocks = list[ui.Block]()
        if is_past:
            return WeekPart(frozenset(), blocks)
        standings = await Standings(self._services.store.database).of_team(place.team_id)
        for subject in await self._watched(place):
            if line := await self._week_line(subject, standings.get(subject), named):
                blocks.append(line)
        return WeekPart(frozenset(), blocks)

    async def _watched(self, place: Place) -> Iterable[Subject]:
        here = {place.channel_id, *place.others}
        watches = await self._services.store.watches.of(place.team_id)
        return dict.fromkeys(
            subject_of(watch)
            for watch in watches
            if watch.channel_id in here and place.author_id in {None, watch.author_id}
        )

    async def _week_line(
        self, subject: Subject, standing: Standing | None, named: Named
    ) -> ui.Block | None:
        report = await self._figures.of(subject)
        members = await named([subject.author_id]) if report.topics else {}
        if subject.author_id not in members:
            return None
        changed = (await self._figures.change(standing)).line if standing else ""
        return text.week_block(_value(subject), members[subject.author_id].name, report, changed)

    async def _visible(self, person: Invocation) -> dict[Subject, Sequence[str]]:
        """The watched assistants of a person's channels, with those of their channels that the
        person is in.
        """
        theirs = await self._services.memberships.of(person.user_id)
        watches = await self._services.store.watches.of(person.team_id)
        seen = [watch for watch in watches if watch.channel_id in theirs]
        return dict(grouped((subject_of(watch), watch.channel_id) for watch in seen))

    async def _name_of(self, subject: Subject) -> str:
        return await self._services.members.name_of(subject.author_id)

    async def _table(self, subject: Subject) -> list[ui.Block]:
        report = await self._figures.of(subject)
        return text.topics_blocks(_value(subject), await self._name_of(subject), report)

    async def _answer_click(self, person: Invocation) -> Post | str:
        channel_id, _, author_id = person.value.partition(" ")
        subject = Subject(person.team_id, channel_id, author_id)
        try:
            channels = (await self._visible(person)).get(subject)
        except MembershipError as exc:
            return unsure_of_membership(exc)
        if not channels:
            return NOT_YOURS
        if person.action == ids.ACTION_TOPICS:
            return text.topics_post(await self._table(subject))
        gaps = await self._gaps(subject, channels, person)
        name = await self._name_of(subject)
        if person.action == ids.ACTION_FILE:
            return await self._send_file(person, name, gaps)
        return await self._write_post(subject, name, gaps)

    async def _gaps(
        self, subject: Subject, channels: Sequence[str], person: Invocation
    ) -> Sequence[Gap]:
        """What to write, by which the person is told scores."""
        questions = await self._figures.questions(subject, channels)
        gaps = await asyncio.to_thread(to_gaps, questions)
        told = [asked.reply.id for gap in gaps for asked in gap.asked if asked.reply]
        await self._services.store.assignments.note_told(person.team_id, told, person.user_id)
        return gaps

    async def _write_post(self, subject: Subject, name: str, gaps: Sequence[Gap]) -> Post:
        services = self._services
        gaps = [replace(gap, groups=gap.groups[:_MOST_GROUPS]) for gap in gaps[:_MOST_GAPS]]
        words = await self._unstored_words(gaps)
        has_file = NEEDED_SCOPE in services.identity.scopes
        url = services.identity.url
        return text.write_post(_value(subject), name, gaps, words, url, has_file=has_file)

    async def _unstored_words(self, gaps: Sequence[Gap]) -> Mapping[str, str]:
        """The words of questions without an answer, by message: they are read where they are shown."""
        groups = [group for gap in gaps for group in gap.groups]
        unread = [group.bad[0].question for group in groups if not group.text]
        said = await asyncio.gather(*(read_words(self._services, each) for each in unread))
        return {
            question.ts: without_mention(its) for question, its in zip(unread, said, strict=True)
        }

    async def _send_file(self, person: Invocation, name: str, gaps: Sequence[Gap]) -> str:
        services = self._services
        url = services.identity.url
        rows = [encode(text.to_row(name, gap, group, url)) for gap in gaps for group in gap.groups]
        asked = [each for gap in gaps for group in gap.groups for each in group.asked]
        quoted = [each.reply.id for each in asked if each.reply and each.reply.question]
        title = f"{text.WRITE_TITLE} for {clip(name)}"
        return await send_rows(
            services.store, services.client, person, "what-to-write.jsonl", title, rows, quoted
        )


def _value(subject: Subject) -> str:
    """The subject as the value of a button."""
    return f"{subject.channel_id} {subject.author_id}"
