"""Tells each change of a standing once to all who hear of it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial

from bot.domain.standing import Standing, Subject
from bot.domain.watch import Watch
from bot.features.watch.examples import LowPart, read_low_part
from bot.features.watch.figures import LOW_FOR
from bot.features.watch.findings import kind_of
from bot.features.watch.notices import TRIED_FOR, Telling, do_once, hearers, shown_to, tell_each
from bot.features.watch.pauses import Pauses
from bot.features.watch.queries import Release, Releases
from bot.features.watch.series import read_series
from bot.features.watch.standing_queries import StandingSteps
from bot.features.watch.standing_text import new_judge_notice, share_line, standing_alert
from bot.features.watch.subjects import WatchedSubject
from bot.services import Services
from bot.slack.blocks import section
from bot.slack.members import MembershipError
from bot.slack.messenger import drawn_from
from bot.store.figures import Place, Span
from judge.evaluation.standing import Direction, Event


class StandingNews:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._standings = StandingSteps(services.store.database)

    async def tell(self, subjects: Mapping[Subject, WatchedSubject]) -> None:
        for standing in await self._standings.untold(self._services.identity.team_id):
            watched = subjects.get(standing.subject)
            if watched is None:
                await self._standings.note_told(standing, None)
            else:
                await self._tell(standing, watched)

    async def _tell(self, standing: Standing, watched: WatchedSubject) -> None:
        now = self._services.clock()
        recipients = await self._recipients(standing, watched, now)
        if recipients and standing.direction is Direction.LOWER:
            sort = partial(self._sort_low, watched)
            await do_once(self._services, standing.subject, f"causes of {standing.id}", sort)
        write = partial(self._write, standing, watched)
        reached = await tell_each(self._services, recipients, f"standing {standing.id}", write)
        is_over = now > standing.stored_at + TRIED_FOR
        if is_over or len(reached) == len(recipients):
            await self._standings.note_told(standing, now if reached else None)

    async def _recipients(
        self, standing: Standing, watched: WatchedSubject, now: datetime
    ) -> Mapping[str, Watch]:
        """Who hears of a change; of what a release has changed, also the person who marked it."""
        database = self._services.store.database
        recipients = hearers(watched.watches)
        if standing.release_id is not None:
            releases = await Releases(database).of_subject(standing.subject)
            marked = [release for release in releases if release.id == standing.release_id]
            # It may have been taken back.
            return with_marker(marked[0], watched.watches) if marked else {}
        if standing.event is Event.FURTHER:
            paused = await Pauses(database).of(standing.subject, now)
            return {to: watch for to, watch in recipients.items() if to not in paused}
        return recipients

    async def _sort_low(self, watched: WatchedSubject) -> None:
        """Has low replies sorted into causes before a drop is told."""
        now = self._services.clock()
        team_id, _, author_id = watched.subject
        for channel_id in watched.channel_ids:
            place = Place(team_id, channel_id, author_id)
            await self._services.sort_low(place, Span(now - LOW_FOR, now))

    async def _write(self, standing: Standing, watched: WatchedSubject, to: str) -> Telling:
        """The alert for one person or channel, with examples from channels that they may see."""
        channel_ids = watched.channel_ids
        name = await self._services.members.name_of(standing.author_id)
        if standing.event is None and standing.release_id is None:
            return new_judge_notice(standing, name, channel_ids), ()
        part = LowPart()
        if standing.direction is Direction.LOWER:
            part = await self._low_part(watched, to)
        blocks = list(part.blocks)
        by_topic = await self._services.change_by_topic(standing)
        if by_topic.line:
            blocks.insert(0, drawn_from(by_topic.drawn_from, section(by_topic.line)))
        lines = await self._lines(standing, watched.place)
        return standing_alert(standing, name, channel_ids, lines, blocks), part.told

    async def _low_part(self, watched: WatchedSubject, to: str) -> LowPart:
        shown_in = list[str]()
        # Without Slack's answer, the change is told without replies.
        with suppress(MembershipError):
            shown_in = await shown_to(self._services, to, watched.channel_ids)
        return await read_low_part(self._services, watched.subject, watched.place, shown_in)

    async def _lines(self, standing: Standing, place: Place) -> Sequence[str]:
        """How many scores are low, and what of the questions a release has changed."""
        lines = list[str]()
        if standing.since is None:
            return lines
        if standing.direction is Direction.LOWER:
            series = await read_series(self._services, place, kind_of(standing))
            if series:
                lines.append(share_line(series, standing.since))
        if standing.release_id is not None:
            lines += await self._services.release_lines(standing.subject, standing.since)
        return lines


def with_marker(release: Release, watches: Sequence[Watch]) -> dict[str, Watch]:
    """Who hears of a release: who hears of its watches, and the person who marked it."""
    recipients = hearers(watches)
    if not release.set_by.startswith("os:"):  # an operator's name in Slack is not known
        recipients.setdefault(release.set_by, watches[0])
    return recipients
