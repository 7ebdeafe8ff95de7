"""Logged cases to judge anew: their texts, the score that they got, and what people said."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select

from bot.log.database import Database
from bot.log.schema import cases, labels
from bot.log.visibility import counts, is_watched, superseded

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


class Replays:
    """Reads what counts in the figures, of chosen and of random replies, and still has its texts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(self) -> Sequence[Version]:
        """The judge versions that scored such cases, the one with most of them first."""
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
