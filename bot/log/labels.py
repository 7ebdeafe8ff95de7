"""Labels in the log: the score that a person gave a case; one for each person and case."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select, tuple_

from bot.domain.case import LoggedCase
from bot.domain.clock import utc_now
from bot.domain.label import Label
from bot.log.database import Database
from bot.log.schema import cases, labels
from bot.log.upserts import upsert
from bot.log.visibility import chosen_or_watched

_DIRECT_MESSAGES = "D"
_PAGE = 500
_NAMED_OTHERWISE = {"human", "user_id", "reason", "is_blind", "probability", "drawn_with"}


@dataclass(frozen=True)
class LabelledCase:
    """A verdict with a label of it; `human` is the label's score, `reason` the person's. Both None without a label.

    `probability` is that with which the case was drawn for a blind label, `drawn_with` that with which a watch drew the
    reply.
    """

    id: int
    team_id: str
    channel_id: str
    question: str | None
    question_hash: str | None
    response: str | None
    score: int | None
    model: str
    escalation: str | None
    rubric: str
    rubric_version: str
    judged_at: datetime
    message_ts: str | None
    parent_ts: str | None
    thread_ts: str | None
    user_id: str | None
    human: int | None
    reason: str | None
    is_blind: bool | None
    probability: float | None
    drawn_with: float | None


class Labels:
    """Reads and writes the labels of a log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, case: LoggedCase, user_id: str, label: Label) -> Label | None:
        """Records a person's label and gives the one that it replaces; None where it is their first.

        A label that they gave blind stands.
        """
        earlier = await self.get(case, user_id)
        now = utc_now()
        values = {
            "channel_id": case.channel_id,
            "score": label.score,
            "reason": label.reason,
            "created_at": now,
            "updated_at": now,
        }
        key = {"team_id": case.team_id, "case_id": case.id, "user_id": user_id}
        statement = upsert(self._database, labels, key | values, ("created_at",), where=~labels.c.is_blind)
        await self._database.execute(statement)
        return earlier

    async def get(self, case: LoggedCase, user_id: str) -> Label | None:
        """A person's label of a case."""
        query = select(labels.c.score, labels.c.reason, labels.c.is_blind).where(
            labels.c.team_id == case.team_id, labels.c.case_id == case.id, labels.c.user_id == user_id
        )
        found = await self._database.rows(Label, query)
        return found[0] if found else None

    async def teams(self, *, has_unlabelled: bool = False) -> Sequence[str]:
        """The teams of which there are labels, or cases."""
        team_id = (cases if has_unlabelled else labels).c.team_id
        query = select(team_id).distinct().order_by(team_id)
        return [row.team_id for row in await self._database.all(query)]

    async def labelled_cases(
        self, since: datetime | None = None, *, has_unlabelled: bool = False, watched: bool = False
    ) -> AsyncIterator[LabelledCase]:
        """The labels of verdicts that count, each with its case, oldest case first; read page by page.

        With `has_unlabelled` also the verdicts without a label; `watched` gives the replies that watches drew instead
        of those that people chose. As in the figures: what a whole channel could see, and
        of a reply the newest verdict. What somebody had scored in their direct messages with the app was for them
        alone, too.
        """
        query = _labelled(since, has_unlabelled=has_unlabelled, watched=watched)
        place = tuple_(cases.c.id, _LABELLED_BY)
        page = query
        while found := await self._database.rows(LabelledCase, page.order_by(*place).limit(_PAGE)):
            for labelled in found:
                yield labelled
            page = query.where(place > (found[-1].id, found[-1].user_id or ""))


_LABELLED_BY = func.coalesce(labels.c.user_id, "")


def _labelled(since: datetime | None, *, has_unlabelled: bool, watched: bool) -> Select[Any]:
    label = [labels.c.score.label("human"), labels.c.user_id, labels.c.reason, labels.c.is_blind, labels.c.probability]
    case = [cases.c[each.name] for each in fields(LabelledCase) if each.name not in _NAMED_OTHERWISE]
    drawn_with = cases.c.probability.label("drawn_with")
    is_same = (labels.c.team_id == cases.c.team_id) & (labels.c.case_id == cases.c.id)
    query = select(*case, drawn_with, *label).select_from(cases).join(labels, is_same, isouter=has_unlabelled)
    query = query.where(cases.c.judged_at.is_not(None), chosen_or_watched(watched=watched))
    query = query.where(~cases.c.channel_id.startswith(_DIRECT_MESSAGES))
    return query if since is None else query.where(cases.c.judged_at >= since)
