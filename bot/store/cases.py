"""Reads cases, their verdicts, and a person's list of them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.attempt import C, exclusion_of, next_attempt
from bot.domain.case import CaseStatus, CaseTurn, Exclusion, LoggedCase, Part
from bot.domain.case_key import WatchKey
from bot.domain.verdict import CaseVerdict
from bot.store.database import StoreQueries, in_transaction
from bot.store.schema import IS_UNSETTLED, cases, is_of_case, processes, ratings, turns
from bot.store.tables import Condition
from bot.store.visibility import counts, is_shared, is_watched, same_reply
from judge import Flag, Rating, Unscored
from judge.scoring.ratings import Result

PageEnd = tuple[datetime, int]
"""Where a page ends: time and number of its last case. It stays valid if that case is deleted."""

AT_REST = (CaseStatus.DELIVERED, CaseStatus.ASKED)
"""The statuses of cases that no process works on; other cases are left alone until they are settled."""


_OF_VERDICT = {each.name for each in fields(CaseVerdict)}.intersection(cases.c.keys()) - {
    "rubric",
    "flags",
}
_OF_RATING = ("score", "weighted_score", "unscored_reason", "probabilities", "points")
_COLUMNS = {"reason": "unscored_reason", "detail": "justification"}


def verdict_values(verdict: CaseVerdict) -> dict[str, Any]:
    """The columns of a case that its verdict fills."""
    return {name: getattr(verdict, name) for name in _OF_VERDICT} | {
        "unscored_reason": verdict.unscored_reason,
        "unscored_detail": verdict.unscored and verdict.unscored.detail,
        "flags": list(verdict.flags),
    }


def rating_rows(case: LoggedCase, given: Sequence[Result]) -> list[dict[str, Any]]:
    its = dict.fromkeys(_OF_RATING) | {"team_id": case.team_id, "case_id": case.id}
    return [
        its
        | {"position": position}
        | {_COLUMNS.get(name, name): value for name, value in vars(each).items()}
        for position, each in enumerate(given)
    ]


def _to_rating(row: sa.Row[Any]) -> Result:
    kind = Unscored if row.score is None else Rating
    values = {each.name: row._mapping[_COLUMNS.get(each.name, each.name)] for each in fields(kind)}
    if chances := values.get("probabilities"):  # JSON has no numbers as keys
        values["probabilities"] = {int(score): chance for score, chance in chances.items()}
    return kind(**values)


def _to_verdict(row: sa.Row[Any], rows: Sequence[sa.Row[Any]]) -> CaseVerdict:
    why = Unscored(reason=row.unscored_reason, detail=row.unscored_detail or "")
    given = tuple(map(_to_rating, rows))
    usable = [rating for rating in given if isinstance(rating, Rating)]
    return CaseVerdict(
        **{name: row._mapping[name] for name in _OF_VERDICT},
        rubric=row.rubric,
        unscored=why if row.unscored_reason else None,
        # Flags that are not known come from a later version.
        flags=tuple(flag for flag in Flag if flag in row.flags),
        ratings=given,
        basis=f"{len(usable)} of {len(given)}",
    )


# Built once: building it takes SQLAlchemy longer than running it takes SQLite.
_BY_ID = sa.select(cases).where(cases.c.id == sa.bindparam("case_id"))
_RATINGS, _TURNS = (
    sa.select(each)
    .where(each.c.team_id == sa.bindparam("team_id"), each.c.case_id == sa.bindparam("case_id"))
    .order_by(each.c.position)
    for each in (ratings, turns)
)


def _is_part(part: Part) -> Condition:
    return sa.and_(is_of_case(turns), turns.c.part == part)


def is_one_message(part: Part) -> Condition:
    """Whether a case has its question or its reply from one message; of several, each has a row."""
    return ~sa.select(turns.c.ts).where(_is_part(part)).exists()


_IS_LATEST = sa.and_(
    cases.c.team_id == sa.bindparam("team_id"),
    cases.c.channel_id == sa.bindparam("channel_id"),
    sa.or_(
        # A parameter here would have SQLite prepare the statement at each call, to try it on the
        # partial indexes.
        sa.and_(counts(cases), cases.c.status != sa.literal_column("'asked'")),
        # A watch's verdict that the channel sees, or is about to see.
        sa.and_(
            is_watched(cases),
            cases.c.shows == sa.literal_column("'verdict'"),
            cases.c.visibility == sa.literal_column("'thread'"),
            cases.c.blocker.is_(None),
            cases.c.blocked_by.is_(None),
            cases.c.unscored_reason.is_(None),
        ),
        cases.c.requester_id == sa.bindparam("requester_id"),
    ),
)
# A union, so that each part uses its index.
_OF_MESSAGE = sa.union_all(
    sa.select(cases.c.id, cases.c.response_hash.label("message_hash")).where(
        _IS_LATEST, cases.c.message_ts == sa.bindparam("message_ts"), is_one_message(Part.RESPONSE)
    ),
    sa.select(cases.c.id, turns.c.text_hash)
    .join(turns, _is_part(Part.RESPONSE))
    .where(
        _IS_LATEST,
        turns.c.team_id == sa.bindparam("team_id"),
        turns.c.channel_id == sa.bindparam("channel_id"),
        turns.c.ts == sa.bindparam("message_ts"),
    ),
).subquery()
_LATEST = sa.select(cases, _OF_MESSAGE.c.message_hash).join(
    _OF_MESSAGE, _OF_MESSAGE.c.id == cases.c.id
)
_LATEST = _LATEST.order_by(cases.c.id.desc()).limit(1)


class Cases(StoreQueries):
    """Reads cases; `Store` changes them."""

    async def get(self, case_id: int) -> LoggedCase | None:
        row = await self._database.one(_BY_ID, {"case_id": case_id})
        return LoggedCase(**row._mapping) if row else None

    async def find(self, team_id: str, case_id: int) -> LoggedCase | None:
        case = await self.get(case_id)
        return case if case and case.team_id == team_id else None

    async def keyed(self, team_id: str, *keys: str) -> LoggedCase | None:
        """The newest case with one of these keys."""
        query = sa.select(cases).filter_by(team_id=team_id).where(cases.c.key.in_(keys))
        return await self._database.first(LoggedCase, query.order_by(cases.c.id.desc()))

    async def latest(
        self, team_id: str, channel_id: str, message_ts: str, requester_id: str
    ) -> tuple[LoggedCase, str | None] | None:
        """The case that a message has already, as far as this person is concerned, and its hash as
        it was read.
        """
        asked = {"team_id": team_id, "channel_id": channel_id}
        asked |= {"message_ts": message_ts, "requester_id": requester_id}
        row = await self._database.one(_LATEST, asked)
        return (LoggedCase(**row._mapping), row.message_hash) if row else None

    async def with_turns(self, case: LoggedCase) -> LoggedCase:
        """The case with the messages that it was read from."""
        if not case.messages_before and case.messages <= 1:
            return case
        its = _TURNS.params(team_id=case.team_id, case_id=case.id)
        return case.model_copy(update={"turns": tuple(await self._database.rows(CaseTurn, its))})

    async def exclusion_of(
        self,
        user_id: str,
        earlier: LoggedCase,
        *,
        has_chosen: bool = False,
        is_changed: bool = False,
    ) -> Exclusion | None:
        """Why a repeated verdict for this person is not counted; None if it replaces the earlier
        one.
        """
        query = sa.select(cases.c.requester_id, cases.c.score).where(
            same_reply(earlier), is_shared(cases)
        )
        rows = await self._database.all(query.order_by(cases.c.id))
        counted = [(row.requester_id, row.score) for row in rows]
        return exclusion_of(user_id, earlier, counted, has_chosen, is_changed)

    async def attempt_after(self, known: LoggedCase, case: C, *, is_changed: bool) -> C:
        """The request as the next attempt at its reply, with why it does not count, if so."""
        excluded = await self.exclusion_of(case.requester_id, known, is_changed=is_changed)
        return next_attempt(case, known).model_copy(update={"excluded": excluded})

    async def replaced_by(self, case: LoggedCase) -> Sequence[LoggedCase]:
        if case.attempt == 1 or case.excluded or case.is_for_one:
            return []
        is_its = sa.and_(same_reply(case), is_shared(cases))
        if case.is_watched:
            first = replace(WatchKey.parse(case.key), is_again=False)
            is_its = sa.and_(cases.c.team_id == case.team_id, cases.c.key == str(first))
        query = sa.select(cases).where(is_its, cases.c.id < case.id, cases.c.judged_at.is_not(None))
        return await self._database.rows(LoggedCase, query)

    async def is_replaced(self, case_id: int) -> bool:
        case = await self.get(case_id)
        if case is None or case.excluded is Exclusion.CONTINUED:
            return case is not None
        is_later = sa.and_(
            cases.c.id > case.id, cases.c.attempt > 1, cases.c.judged_at.is_not(None)
        )
        query = sa.select(cases.c.id).where(same_reply(case), is_shared(cases), is_later).limit(1)
        return await self._database.value(query) is not None

    async def verdict(self, case_id: int) -> CaseVerdict | None:
        async def read(connection: AsyncConnection) -> tuple[sa.Row[Any], Sequence[sa.Row[Any]]]:
            row = (await connection.execute(_BY_ID, {"case_id": case_id})).one()
            which = {"team_id": row.team_id, "case_id": case_id}
            return row, (await connection.execute(_RATINGS, which)).all()

        row, rows = await self._database.read(read)
        return _to_verdict(row, rows) if row.judged_at else None

    @in_transaction
    async def note_more(
        self, connection: AsyncConnection, case: LoggedCase, verdict: CaseVerdict
    ) -> None:
        """Keeps points and reason that were asked for later, unless the case has lost the texts
        that they are about.
        """
        its = sa.update(cases).where(
            cases.c.id == case.id, cases.c.response == case.response, ~cases.c.is_stale
        )
        more = {"points": verdict.points, "justification": verdict.justification}
        is_kept = (await connection.execute(its.values(more))).rowcount
        of_rating = sa.update(ratings).filter_by(team_id=case.team_id, case_id=case.id, position=0)
        for first in rating_rows(case, verdict.ratings)[:is_kept]:
            await connection.execute(
                of_rating.values(justification=first["justification"], raw=first["raw"])
            )

    async def recent(
        self,
        team_id: str,
        user_id: str,
        limit: int,
        before: PageEnd | None = None,
    ) -> Sequence[LoggedCase]:
        """A person's newest cases, or the newest of those older than `before`."""
        query = sa.select(cases).filter_by(team_id=team_id, requester_id=user_id)
        if before:
            query = query.where(sa.tuple_(cases.c.created_at, cases.c.id) < before)
        newest_first = query.order_by(cases.c.created_at.desc(), cases.c.id.desc())
        return await self._database.rows(LoggedCase, newest_first.limit(limit))

    async def numbered(self, team_id: str, case_ids: Sequence[int]) -> Sequence[LoggedCase]:
        query = sa.select(cases).filter_by(team_id=team_id).where(cases.c.id.in_(case_ids))
        return await self._database.rows(LoggedCase, query.order_by(cases.c.id))

    async def counts(self) -> Mapping[str, int]:
        """How many cases there are, by status."""
        number = sa.func.count().label("number")
        unsettled = sa.select(cases.c.status, number).where(IS_UNSETTLED).group_by(cases.c.status)
        # Delivered is the total less the others: SQLite counts rows by a narrow index, and has none
        # by status.
        total = sa.select(sa.null(), number).select_from(cases)
        rows = await self._database.all(unsettled.union_all(total))
        counts = {row.status: row.number for row in rows}
        if delivered := counts.pop(None) - sum(counts.values()):
            counts[CaseStatus.DELIVERED] = delivered
        return counts

    async def ping(self) -> None:
        """Returns once the database has answered; what it reads does not grow with the number of
        cases.
        """
        await self._database.all(sa.select(processes.c.id).limit(1))
