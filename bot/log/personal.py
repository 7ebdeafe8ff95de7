"""Everything that a log holds of one person, as it is stored: for whoever asks what is stored of them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, Table, or_, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import QuestionSource
from bot.log.audit import Audit
from bot.log.database import Database
from bot.log.own_words import theirs
from bot.log.schema import audit, cases, draws, labels, people, ratings, replays, rubrics, spent, thumbs

_PAGE = 500
# How a case is settled says nothing of anybody, and some of it would let its reader act for the app.
_OURS = {"key", "holder", "opened", "slack_tries", "model_tries", "faults", "thread_intent", "reply_intent"}
_OURS |= {"is_stale", "reserved_tokens", "response_url"}
_OF_REQUESTER = {"requester_id", "requester_name"}

StoredRow = tuple[str, Mapping[str, Any]]
"""What kind of row (settings, case, label, draw, thumb, rubric, replay, spent, audit), and its columns."""


class Personal:
    """Finds what is stored of a person."""

    def __init__(self, database: Database, audit_part: Audit) -> None:
        self._database = database
        self._audit = audit_part

    async def teams(self, user_id: str) -> Sequence[str]:
        """The teams in which anything is stored of a person with this id: two may have the same."""
        tables = (cases, labels, draws, thumbs, people, rubrics, replays, spent, audit)
        all_teams = union(*(select(table.c.team_id) for table in tables)).order_by("team_id")
        found = [row.team_id for row in await self._database.all(all_teams)]
        are_there = {team_id: await self._database.one(_anything(team_id, user_id)) for team_id in found}
        return [team_id for team_id, row in are_there.items() if row and row.is_there]

    async def rows(self, team_id: str, user_id: str) -> AsyncIterator[StoredRow]:
        """All of it: what they chose, cases, labels, draws, thumbs, rubrics, lines of the audit by or about them.

        Each kind has its oldest first.

        Of a case that somebody else asked for it is left out who that was, and the question that they typed.
        """
        for chosen in await self._database.all(_of(people, team_id, people.c.user_id == user_id)):
            yield "settings", dict(chosen._mapping)
        async for case in self._cases(team_id, user_id):
            yield "case", case
        for label in await self._database.all(_of(labels, team_id, labels.c.user_id == user_id)):
            yield "label", dict(label._mapping)
        for shown in await self._database.all(_of(draws, team_id, draws.c.user_id == user_id)):
            yield "draw", dict(shown._mapping)
        for thumb in await self._database.all(_of(thumbs, team_id, thumbs.c.user_id == user_id)):
            yield "thumb", dict(thumb._mapping)
        for saved in await self._database.all(_of(rubrics, team_id, rubrics.c.saved_by == user_id)):
            yield "rubric", dict(saved._mapping)
        for wished in await self._database.all(_of(replays, team_id, replays.c.user_id == user_id)):
            yield "replay", dict(wished._mapping)
        for used in await self._database.all(_of(spent, team_id, spent.c.requester_id == user_id)):
            yield "spent", dict(used._mapping)
        for act in await self._audit.of(team_id, user_id):
            yield "audit", asdict(act)

    async def _cases(self, team_id: str, user_id: str) -> AsyncIterator[Mapping[str, Any]]:
        last = 0
        some = _of(cases, team_id, cases.c.id.in_(theirs(team_id, user_id))).order_by(cases.c.id).limit(_PAGE)
        while page := await self._page(some.where(cases.c.id > last)):
            for case in page:
                yield _shown(case, user_id)
            last = page[-1]["id"]

    async def _page(self, some: Select[Any]) -> Sequence[dict[str, Any]]:
        async def read(connection: AsyncConnection) -> Sequence[dict[str, Any]]:
            found = {row.id: {**row._mapping, "ratings": []} for row in await connection.execute(some)}
            given = select(ratings).where(ratings.c.case_id.in_(found)).order_by(ratings.c.case_id, ratings.c.position)
            for rating in await connection.execute(given):
                found[rating.case_id]["ratings"].append(dict(rating._mapping))
            return list(found.values())

        return await self._database.read(read)


def _of(table: Table, team_id: str, is_theirs: Any) -> Select[Any]:
    return select(table).where(table.c.team_id == team_id, is_theirs)


def _anything(team_id: str, user_id: str) -> Select[Any]:
    is_in_audit = or_(audit.c.who == user_id, audit.c.user_id == user_id)
    places = (
        theirs(team_id, user_id),
        select(labels.c.case_id).where(labels.c.team_id == team_id, labels.c.user_id == user_id),
        select(draws.c.case_id).where(draws.c.team_id == team_id, draws.c.user_id == user_id),
        select(thumbs.c.ts).where(thumbs.c.team_id == team_id, thumbs.c.user_id == user_id),
        select(rubrics.c.number).where(rubrics.c.team_id == team_id, rubrics.c.saved_by == user_id),
        select(replays.c.id).where(replays.c.team_id == team_id, replays.c.user_id == user_id),
        select(spent.c.id).where(spent.c.team_id == team_id, spent.c.requester_id == user_id),
        select(audit.c.id).where(audit.c.team_id == team_id, is_in_audit),
    )
    chosen = select(people.c.user_id).where(people.c.team_id == team_id, people.c.user_id == user_id)
    return select(or_(chosen.exists(), *(place.exists() for place in places)).label("is_there"))


def _shown(case: Mapping[str, Any], user_id: str) -> dict[str, Any]:
    hidden = set(_OURS)
    if case["requester_id"] != user_id:
        hidden |= _OF_REQUESTER
    if case["question_source"] == QuestionSource.TYPED and user_id not in {
        case["question_author_id"],
        case["requester_id"],
    }:
        hidden |= {"question", "question_hash", "question_author_id"}
    return {name: value for name, value in case.items() if name not in hidden}
