"""What is stored about a person, for that person to read."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa

from bot.domain.case import QuestionSource
from bot.store.audit import Audit
from bot.store.database import StoreQueries
from bot.store.schema import (
    assignments,
    audit,
    cases,
    forgotten,
    labels,
    notices,
    people,
    ratings,
    releases,
    rubrics,
    seen_messages,
    spent,
    thumbs,
    turns,
)


def theirs(team_id: str, user_id: str) -> sa.Select[tuple[int]]:
    # A union, so that each part uses its index.
    of_team = sa.select(cases.c.id).filter_by(team_id=team_id)
    said = sa.select(turns.c.case_id).filter_by(team_id=team_id, author_id=user_id)
    roles = ("requester_id", "author_id", "question_author_id")
    parts = sa.union(*(of_team.filter_by(**{role: user_id}) for role in roles), said)
    return sa.select(parts.subquery().c.id)


# How a case is settled is not personal data, and some of it would let its reader act for the app.
_OURS = {
    "key",
    "lease_owner",
    "opened",
    "slack_tries",
    "model_tries",
    "internal_errors",
    "thread_intent",
    "reply_intent",
    "is_stale",
    "response_url",
}


# Hidden from a person who only wrote an earlier message of the conversation.
_OF_OTHERS = {
    "question",
    "question_hash",
    "question_author_id",
    "response",
    "response_hash",
    "author_id",
    "justification",
    "unscored_detail",
    "ratings",
}


# What is stored about a person besides cases and audit: for each kind, the column that names them.
_OF_PERSON: Mapping[str, sa.Column[Any]] = {
    "settings": people.c.user_id,
    "label": labels.c.user_id,
    "draw": assignments.c.user_id,
    "thumb": thumbs.c.user_id,
    "message": seen_messages.c.author_id,
    "rubric": rubrics.c.saved_by,
    "release": releases.c.set_by,
    "release taken back": releases.c.taken_back_by,
    "forgotten": forgotten.c.user_id,
    "notice": notices.c.recipient,
    "spent": spent.c.requester_id,
}


_OF_WHO_MARKED_IT = ("note", "set_by")


class Personal(StoreQueries):
    async def teams(self, user_id: str) -> Sequence[str]:
        """The teams in which anything is stored about a person with this id; two people may have
        the same.
        """
        tables = (cases, audit, *(whose.table for whose in _OF_PERSON.values()))
        all_teams = sa.union(*(sa.select(table.c.team_id) for table in tables)).order_by("team_id")
        found = await self._database.values(all_teams)
        return [team_id for team_id in found if await anext(self.rows(team_id, user_id), None)]

    async def rows(self, team_id: str, user_id: str) -> AsyncIterator[Mapping[str, Any]]:
        """Everything stored about a person, including the audit rows by or about them: the columns,
        and a `kind`.

        Cases and audit rows come oldest first. For a case that another person asked for, the
        requester and a question that the requester typed are left out. Of a conversation, only this
        person's own turns are shown.
        """
        for kind, whose in _OF_PERSON.items():
            its = sa.select(whose.table).where(whose.table.c.team_id == team_id, whose == user_id)
            for row in await self._database.all(its):
                hidden = _OF_WHO_MARKED_IT if whose is releases.c.taken_back_by else ()
                yield {
                    "kind": kind,
                    **{name: row._mapping[name] for name in row._fields if name not in hidden},
                }
        async for case in self._cases(team_id, user_id):
            yield {"kind": "case", **case}
        for act in await Audit(self._database).of(team_id, user_id):
            yield {"kind": "audit", **asdict(act)}

    async def _cases(self, team_id: str, user_id: str) -> AsyncIterator[Mapping[str, Any]]:
        is_theirs = sa.and_(cases.c.team_id == team_id, cases.c.id.in_(theirs(team_id, user_id)))
        async for page in self._database.pages(sa.select(cases).where(is_theirs), cases.c.id):
            ids = [row.id for row in page]
            said = await self._parts(turns, ids)
            given = await self._parts(ratings, ids)
            for row in page:
                case = {**row._mapping, "turns": said[row.id], "ratings": given[row.id]}
                yield _shown(case, user_id)

    async def _parts(
        self, table: sa.Table, case_ids: Sequence[int]
    ) -> Mapping[int, list[Mapping[str, Any]]]:
        """The rows of each of these cases, in their order."""
        parts = defaultdict[int, list[Mapping[str, Any]]](list)
        query = sa.select(table).where(table.c.case_id.in_(case_ids)).order_by(table.c.position)
        for row in await self._database.all(query):
            parts[row.case_id].append(dict(row._mapping))
        return parts


def _shown(case: Mapping[str, Any], user_id: str) -> dict[str, Any]:
    hidden = set(_OURS)
    if case["requester_id"] != user_id:
        hidden |= {"requester_id", "requester_name"}
    is_typed = case["question_source"] == QuestionSource.TYPED
    if is_typed and user_id not in {case["question_author_id"], case["requester_id"]}:
        hidden |= {"question", "question_hash", "question_author_id"}
    if user_id not in {case["requester_id"], case["author_id"], case["question_author_id"]}:
        hidden |= _OF_OTHERS
    own = [turn for turn in case["turns"] if turn["author_id"] == user_id]
    return {name: value for name, value in {**case, "turns": own}.items() if name not in hidden}
