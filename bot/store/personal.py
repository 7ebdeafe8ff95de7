"""What is stored about a person, for that person to read."""

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
    of_team = sa.select(cases.c.id).where(cases.c.team_id == team_id)
    places = (cases.c.requester_id, cases.c.author_id, cases.c.question_author_id)
    said = sa.select(turns.c.case_id).where(
        turns.c.team_id == team_id, turns.c.author_id == user_id
    )
    return sa.select(
        sa.union(*(of_team.where(place == user_id) for place in places), said).subquery().c.id
    )


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
            found: dict[int, dict[str, Any]] = {
                row.id: {**row._mapping, "turns": [], "ratings": []} for row in page
            }
            for table in (turns, ratings):
                parts = sa.select(table).where(table.c.case_id.in_(found))
                for row in await self._database.all(parts.order_by(table.c.position)):
                    found[row.case_id][table.name].append(dict(row._mapping))
            for case in found.values():
                yield _shown(case, user_id)


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
