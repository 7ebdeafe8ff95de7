"""What counts in the figures, case by case, to be exported."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Row, func, or_, select

from bot.store.database import StoreQueries
from bot.store.labels import TIMES_DRAWN
from bot.store.schema import cases, causes, is_of_case, labels, ratings
from bot.store.tables import Condition
from bot.store.turns import read_conversations
from bot.store.visibility import NEWER, chosen_or_watched, is_low, is_shared, is_watched
from judge import Turn

_DIRECT_MESSAGES = "D"


@dataclass(frozen=True)
class Selection:
    """Which verdicts are exported: those that count in the figures, of each reply the newest.

    What people had scored in their direct messages with the app was for them alone, and is never
    exported. `watched`: the replies that watches drew, instead of those that people chose. `team_id`
    and `channel_id`: of these alone.
    """

    since: datetime | None = None
    has_unlabelled: bool = False
    watched: bool = False
    team_id: str | None = None
    channel_id: str | None = None
    low: bool = False

    def conditions(self) -> Sequence[Condition]:
        newer: list[Condition] = []
        own: list[Condition] = [
            cases.c.judged_at.is_not(None),
            ~cases.c.channel_id.startswith(_DIRECT_MESSAGES),
        ]
        for name, value in (("team_id", self.team_id), ("channel_id", self.channel_id)):
            if value is not None:
                own.append(cases.c[name] == value)
                newer.append(NEWER.c[name] == value)
        if self.since:
            own.append(cases.c.judged_at >= self.since)
        if self.low:
            own.append(is_low())
        return [*own, chosen_or_watched(*newer, watched=self.watched)]


_LABEL = (
    labels.c.score.label("human"),
    labels.c.user_id,
    labels.c.reason,
    labels.c.is_blind,
    labels.c.probability.label("label_probability"),
)


_CAUSE = select(causes.c.name).where(is_of_case(causes)).limit(1).scalar_subquery()
_GIVEN_BY = func.coalesce(labels.c.user_id, "").label("given_by")
_ROWS = select(
    cases, *_LABEL, _CAUSE.label("cause"), TIMES_DRAWN.label("times_drawn"), _GIVEN_BY
).select_from(cases)


class Exports(StoreQueries):
    async def teams(self, channel_id: str) -> Sequence[str]:
        """The teams in which this channel has verdicts; none for direct messages, which are for one
        person.
        """
        if channel_id.startswith(_DIRECT_MESSAGES):
            return []
        query = select(cases.c.team_id).where(
            cases.c.channel_id == channel_id, cases.c.judged_at.is_not(None)
        )
        query = query.where(or_(is_watched(cases), is_shared(cases)))
        return await self._database.values(query.distinct().order_by(cases.c.team_id))

    async def channels(self) -> Sequence[str]:
        """The ids of channels with verdicts that everybody there can see."""
        shared = (
            select(cases.c.channel_id)
            .where(cases.c.judged_at.is_not(None), is_shared(cases))
            .distinct()
        )
        found = await self._database.values(shared.order_by(cases.c.channel_id))
        return [each for each in found if not each.startswith(_DIRECT_MESSAGES)]

    async def count(self, which: Selection) -> int:
        """How many labels are selected, or cases if those without a label are, too."""
        query = select(func.count()).select_from(
            cases if which.has_unlabelled else cases.join(labels)
        )
        return int(await self._database.value(query.where(*which.conditions())))

    async def rows(
        self, which: Selection
    ) -> AsyncIterator[tuple[Row[Any], Sequence[Row[Any]], Sequence[Turn]]]:
        """A row for each label of each verdict, oldest case first, with its ratings and
        conversation.

        It has the columns of `cases`, its `cause` as in a digest, how many times as often as others
        it is drawn for labels (`times_drawn`) and, from the label, `human` (its
        score), `user_id`, `reason`, `is_blind` and `label_probability`, which are None without a
        label. Rows are read page by page: each is as it was
        when its page was read.
        """
        joined = _ROWS.join(labels, isouter=which.has_unlabelled).where(*which.conditions())
        async for page in self._database.pages(joined, cases.c.id, _GIVEN_BY):
            given = await self._ratings([row.id for row in page])
            ids = {row.id for row in page if row.messages_before}
            said = await self._database.read(partial(read_conversations, case_ids=ids))
            for row in page:
                yield row, given[row.id], said.get(row.id, ())

    async def _ratings(self, case_ids: Sequence[int]) -> Mapping[int, list[Row[Any]]]:
        given = defaultdict[int, list[Row[Any]]](list)
        query = select(ratings).where(ratings.c.case_id.in_(case_ids))
        in_order = query.order_by(ratings.c.case_id, ratings.c.position)
        for row in await self._database.all(in_order):
            given[row.case_id].append(row)
        return given
