"""What counts in the figures, case by case: for exports, and to be judged anew."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, and_, func, or_, select

from bot.store.database import Database, Part
from bot.store.schema import cases, labels, ratings
from bot.store.visibility import NEWER, chosen_or_watched, counts, is_watched, superseded

_DIRECT_MESSAGES = "D"
_PAGE = 500


@dataclass(frozen=True)
class Version:
    """One judge version on one scale, and its cases that can be judged anew; `labelled` are those with a label."""

    name: str
    scale: tuple[int, int]
    case_ids: Sequence[int]
    labelled: Collection[int]


@dataclass(frozen=True)
class Replayable:
    """A case as it was judged; `human` are the labels of the people who gave one."""

    id: int
    team_id: str
    question: str
    question_hash: str | None
    response: str
    score: int
    human: Sequence[int] = ()


class Replays(Part):
    async def versions(self) -> Sequence[Version]:
        columns = (cases.c.id, cases.c.judge_version, cases.c.lowest, cases.c.highest)
        found: dict[tuple[str, tuple[int, int]], list[int]] = {}
        for row in await self._database.all(select(*columns).where(_is_replayable()).order_by(cases.c.id)):
            found.setdefault((row.judge_version or "", (row.lowest, row.highest)), []).append(row.id)
        labelled = {row.case_id for row in await self._database.all(select(labels.c.case_id).distinct())}
        versions = [Version(*key, ids, labelled.intersection(ids)) for key, ids in found.items()]
        return sorted(versions, key=lambda version: len(version.case_ids), reverse=True)

    async def cases(self, case_ids: Sequence[int]) -> Sequence[Replayable]:
        """These cases, oldest first; without those that were forgotten meanwhile."""
        found: list[Replayable] = []
        for at in range(0, len(case_ids), _PAGE):
            found += await self._page(sorted(case_ids)[at : at + _PAGE])
        return found

    async def _page(self, case_ids: Sequence[int]) -> Sequence[Replayable]:
        human: dict[int, list[int]] = {}
        said = select(labels.c.case_id, labels.c.score).where(labels.c.case_id.in_(case_ids)).order_by(labels.c.user_id)
        for label in await self._database.all(said):
            human.setdefault(label.case_id, []).append(label.score)
        columns = [cases.c[each.name] for each in fields(Replayable) if each.name != "human"]
        query = select(*columns).where(cases.c.id.in_(case_ids), _is_replayable()).order_by(cases.c.id)
        rows: Sequence[Any] = await self._database.all(query)
        return [Replayable(**row._mapping, human=human.get(row.id, ())) for row in rows]


def _is_replayable() -> ColumnElement[bool]:
    return and_(
        cases.c.score.is_not(None),
        cases.c.question.is_not(None),
        cases.c.response.is_not(None),
        or_(counts(cases), is_watched(cases)),
        cases.c.id.not_in(superseded()),
        ~cases.c.channel_id.startswith(_DIRECT_MESSAGES),
    )


_OWN = {"ratings", "labels"}


@dataclass(frozen=True)
class GivenRating:
    model: str | None
    score: int | None
    unscored_reason: str | None
    justification: str


@dataclass(frozen=True)
class GivenLabel:
    """What a person gave; `probability` is that of the draw for a blind label."""

    score: int
    reason: str | None
    is_blind: bool
    probability: float | None


@dataclass(frozen=True)
class JudgedReply:
    id: int
    question: str | None
    response: str | None
    score: int | None
    lowest: int | None
    highest: int | None
    mean: float | None
    justification: str | None
    model: str | None
    rubric: str
    rubric_version: str | None
    unscored_reason: str | None
    flags: list[str]
    weighted_score: float | None
    input_tokens: int | None
    output_tokens: int | None
    latency_ms: int | None
    cost_usd: float | None
    thread_ts: str | None
    judged_at: datetime
    ratings: list[GivenRating] = field(default_factory=list)
    labels: list[GivenLabel] = field(default_factory=list)


class Channel:
    """Reads the replies of one channel: those in its figures, of each reply the newest verdict."""

    def __init__(self, database: Database, *, watched: bool = False) -> None:
        self._database = database
        self._watched = watched

    async def teams(self, channel_id: str) -> Sequence[str]:
        """The teams in which this channel has such replies; none for direct messages, which are for one person."""
        if channel_id.startswith(_DIRECT_MESSAGES):
            return []
        query = select(cases.c.team_id).where(cases.c.channel_id == channel_id, cases.c.judged_at.is_not(None))
        rows = await self._database.all(
            query.where(is_watched(cases) if self._watched else counts(cases)).distinct().order_by(cases.c.team_id)
        )
        return [row.team_id for row in rows]

    async def count(self, team_id: str, channel_id: str, since: datetime | None = None) -> int:
        query = select(func.count().label("number")).where(*self._shown(team_id, channel_id, since))
        (row,) = await self._database.all(query)
        return int(row.number)

    async def replies(self, team_id: str, channel_id: str, since: datetime | None = None) -> AsyncIterator[JudgedReply]:
        columns = [cases.c[each.name] for each in fields(JudgedReply) if each.name not in _OWN]
        query = select(*columns).where(*self._shown(team_id, channel_id, since)).order_by(cases.c.id).limit(_PAGE)
        page = query
        while found := await self._database.rows(JudgedReply, page):
            await self._complete(team_id, {reply.id: reply for reply in found})
            for reply in found:
                yield reply
            page = query.where(cases.c.id > found[-1].id)

    def _shown(self, team_id: str, channel_id: str, since: datetime | None) -> Sequence[ColumnElement[bool]]:
        newer = NEWER.c.team_id == team_id, NEWER.c.channel_id == channel_id
        return (
            cases.c.team_id == team_id,
            cases.c.channel_id == channel_id,
            cases.c.judged_at.is_not(None) if since is None else cases.c.judged_at >= since,
            chosen_or_watched(*newer, watched=self._watched),
        )

    async def _complete(self, team_id: str, replies: Mapping[int, JudgedReply]) -> None:
        for row in await self._of(ratings, GivenRating, team_id, replies, ratings.c.position):
            replies[row.case_id].ratings.append(_to(GivenRating, row))
        for row in await self._of(labels, GivenLabel, team_id, replies, labels.c.created_at):
            replies[row.case_id].labels.append(_to(GivenLabel, row))

    async def _of(
        self, table: Table, kind: type, team_id: str, replies: Mapping[int, JudgedReply], order: ColumnElement[Any]
    ) -> Sequence[Row[Any]]:
        columns = [table.c[each.name] for each in fields(kind)]
        query = select(table.c.case_id, *columns).where(table.c.team_id == team_id, table.c.case_id.in_(replies))
        return await self._database.all(query.order_by(table.c.case_id, order))


def _to(kind: Any, row: Row[Any]) -> Any:
    return kind(**{each.name: getattr(row, each.name) for each in fields(kind)})
