"""Reads cases and a person's list of them, and records edits and deletions of their messages."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    false,
    func,
    null,
    or_,
    select,
    true,
    tuple_,
    union,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import CaseStatus, CaseTurn, CurrentVerdict, Exclusion, LoggedCase, Part, join_texts, text_hash
from bot.domain.clock import utc_now
from bot.domain.verdict import CaseVerdict
from bot.domain.watch import AGAIN
from bot.store.database import Database, lock_learning
from bot.store.database import Part as StorePart
from bot.store.examples import drop_examples
from bot.store.jobs import Job, JobKind, JobPart, is_of_team
from bot.store.schema import IS_STALE, IS_UNSETTLED, align_records, cases, processes, ratings, turns
from bot.store.turns import is_turn_of_case
from bot.store.visibility import counts, same_reply
from judge import Flag, Rating, Unscored
from judge.scoring.escalation import counted, usable
from judge.scoring.ratings import Result

PageEnd = tuple[datetime, int]
"""Where a page ends: time and number of its last case. It stays valid if that case is deleted."""

AT_REST = (CaseStatus.DELIVERED, CaseStatus.ASKED)
"""The statuses of cases that no process works on; other cases are left alone until they are settled."""


def to_case(row: Row[Any]) -> LoggedCase:
    return LoggedCase.model_validate(dict(row._mapping))


_OF_VERDICT = {each.name for each in fields(CaseVerdict)}.intersection(cases.c.keys()) - {"rubric", "flags"}
_COLUMNS = {"reason": "unscored_reason", "detail": "justification"}
_OF_QUESTION = "question_"


def verdict_values(verdict: CaseVerdict) -> dict[str, Any]:
    """The columns of a case that its verdict fills."""
    return {name: getattr(verdict, name) for name in _OF_VERDICT} | {
        "unscored_reason": verdict.unscored_reason,
        "unscored_detail": verdict.unscored and verdict.unscored.detail,
        "flags": [*verdict.flags, *(f"{_OF_QUESTION}{flag}" for flag in verdict.question_flags)],
    }


def rating_rows(case: LoggedCase, given: Sequence[Result]) -> list[dict[str, Any]]:
    its = dict.fromkeys(("score", "weighted_score", "unscored_reason")) | {"team_id": case.team_id, "case_id": case.id}
    return [
        its | {"position": position} | {_COLUMNS.get(name, name): value for name, value in vars(each).items()}
        for position, each in enumerate(given)
    ]


def _to_rating(row: Row[Any]) -> Result:
    kind = Unscored if row.score is None else Rating
    return kind(**{each.name: row._mapping[_COLUMNS.get(each.name, each.name)] for each in fields(kind)})


def _to_verdict(row: Row[Any], given: Sequence[Row[Any]]) -> CaseVerdict:
    why = Unscored(reason=row.unscored_reason, detail=row.unscored_detail or "")
    verdict = CaseVerdict(
        **{name: row._mapping[name] for name in _OF_VERDICT},
        rubric=row.rubric,
        unscored=why if row.unscored_reason else None,
        # Flags that are not known come from a later version.
        flags=tuple(flag for flag in Flag if flag in row.flags),
        question_flags=tuple(flag for flag in Flag if f"{_OF_QUESTION}{flag}" in row.flags),
        ratings=tuple(map(_to_rating, given)),
        basis="",
    )
    return replace(verdict, basis=f"{len(usable(verdict))} of {len(counted(verdict))}")


_NO_TEXTS = {"question": None, "response": None, "justification": ""}
_NO_WORDS = {"justification": "", "raw": ""}


async def drop_texts(database: Database, connection: AsyncConnection, which: ColumnElement[bool]) -> None:
    """Removes the texts from these cases, their ratings, and rubrics and improvements that have learnt from them.

    Hashes, scores and the timestamps of the messages are kept. The transaction must hold `lock_learning`.
    """
    # The cases first: whatever remembers something of a case holds its row, and is deleted after that.
    dropping = update(cases).where(which).values(_NO_TEXTS).returning(cases.c.team_id, cases.c.id)
    dropped = [(row.team_id, row.id) for row in await connection.execute(dropping)]
    said = tuple_(turns.c.team_id, turns.c.case_id).in_(dropped)
    await connection.execute(update(turns).where(said).values(text=None))
    await _drop_quotes(database, connection, dropped)


async def _drop_quotes(database: Database, connection: AsyncConnection, dropped: Sequence[tuple[str, int]]) -> None:
    """Removes what was written from these cases: by the judge, in rubrics, and in what improvements have learnt."""
    theirs = tuple_(ratings.c.team_id, ratings.c.case_id).in_(dropped)
    await connection.execute(update(ratings).where(theirs).values(_NO_WORDS))
    learnt = tuple_(align_records.c.team_id, align_records.c.case_id).in_(dropped)
    await connection.execute(delete(align_records).where(learnt))
    await drop_examples(database, connection, dropped)


# Built once: building it takes SQLAlchemy longer than running it takes SQLite.
_BY_ID = select(cases).where(cases.c.id == bindparam("case_id"))
_RATINGS = (
    select(ratings)
    .where(ratings.c.team_id == bindparam("team_id"), ratings.c.case_id == bindparam("case_id"))
    .order_by(ratings.c.position)
)
_TURNS = (
    select(turns)
    .where(turns.c.team_id == bindparam("team_id"), turns.c.case_id == bindparam("case_id"))
    .order_by(turns.c.position)
)


def _is_part(part: Part) -> ColumnElement[bool]:
    return and_(is_turn_of_case(), turns.c.part == part)


def _is_one_message(part: Part) -> ColumnElement[bool]:
    """Whether a case has its question or its reply from one message; of several, each has a row."""
    return ~select(turns.c.ts).where(_is_part(part)).exists()


_IS_LATEST = and_(
    cases.c.team_id == bindparam("team_id"),
    cases.c.channel_id == bindparam("channel_id"),
    or_(and_(counts(cases), cases.c.status != CaseStatus.ASKED), cases.c.requester_id == bindparam("requester_id")),
)
# A union, so that each part uses its index.
_OF_MESSAGE = union_all(
    select(cases.c.id, cases.c.response_hash.label("message_hash")).where(
        _IS_LATEST, cases.c.message_ts == bindparam("message_ts"), _is_one_message(Part.RESPONSE)
    ),
    select(cases.c.id, turns.c.text_hash)
    .join(turns, _is_part(Part.RESPONSE))
    .where(
        _IS_LATEST,
        turns.c.team_id == bindparam("team_id"),
        turns.c.channel_id == bindparam("channel_id"),
        turns.c.ts == bindparam("message_ts"),
    ),
).subquery()
_LATEST = select(cases, _OF_MESSAGE.c.message_hash).join(_OF_MESSAGE, _OF_MESSAGE.c.id == cases.c.id)
_LATEST = _LATEST.order_by(cases.c.id.desc()).limit(1)


class Cases(StorePart):
    """Reads cases; `Store` changes them."""

    def __init__(self, database: Database, *, keeps_text: bool = True) -> None:
        super().__init__(database)
        self._keeps_text = keeps_text

    async def get(self, case_id: int) -> LoggedCase | None:
        row = await self._database.one(_BY_ID, {"case_id": case_id})
        return to_case(row) if row else None

    async def find(self, team_id: str, case_id: int) -> LoggedCase | None:
        case = await self.get(case_id)
        return case if case and case.team_id == team_id else None

    async def keyed(self, team_id: str, *keys: str) -> LoggedCase | None:
        """The newest case with one of these keys."""
        query = select(cases).filter_by(team_id=team_id).where(cases.c.key.in_(keys))
        return await self._database.first(LoggedCase, query.order_by(cases.c.id.desc()))

    async def latest(
        self, team_id: str, channel_id: str, message_ts: str, requester_id: str
    ) -> tuple[LoggedCase, str | None] | None:
        """The case that a message has already, as far as this person is concerned, and its hash as it was read."""
        which = {"team_id": team_id, "channel_id": channel_id, "message_ts": message_ts, "requester_id": requester_id}
        row = await self._database.one(_LATEST, which)
        return (to_case(row), row.message_hash) if row else None

    async def turns(self, case: LoggedCase) -> tuple[CaseTurn, ...]:
        rows = await self._database.all(_TURNS.params(team_id=case.team_id, case_id=case.id))
        return tuple(CaseTurn.model_validate(dict(row._mapping)) for row in rows)

    async def with_turns(self, case: LoggedCase) -> LoggedCase:
        """The case with the messages that it was read from."""
        has_turns = case.messages_before or case.messages > 1
        return case.model_copy(update={"turns": await self.turns(case)}) if has_turns else case

    async def current_verdict(self, case: LoggedCase) -> CurrentVerdict | None:
        """What counts so far for the reply of this case; None if nothing does."""
        query = select(cases.c.requester_id, cases.c.score).where(same_reply(case), counts(cases)).order_by(cases.c.id)
        rows = await self._database.all(query)
        return CurrentVerdict(rows[0].requester_id, any(row.score is not None for row in rows)) if rows else None

    async def replaced_by(self, case: LoggedCase) -> Sequence[LoggedCase]:
        if case.attempt == 1 or case.excluded or case.is_for_one:
            return []
        is_its = and_(same_reply(case), counts(cases))
        if case.is_watched:
            is_its = and_(cases.c.team_id == case.team_id, cases.c.key == case.key.removesuffix(AGAIN))
        query = select(cases).where(is_its, cases.c.id < case.id, cases.c.judged_at.is_not(None))
        return await self._database.rows(LoggedCase, query)

    async def is_replaced(self, case_id: int) -> bool:
        case = await self.get(case_id)
        if case is None or case.excluded is Exclusion.CONTINUED:
            return case is not None
        is_later = and_(cases.c.id > case.id, cases.c.attempt > 1, cases.c.judged_at.is_not(None))
        query = select(cases.c.id).where(same_reply(case), counts(cases), is_later).limit(1)
        return await self._database.value(query) is not None

    async def verdict(self, case_id: int) -> CaseVerdict | None:
        async def read(connection: AsyncConnection) -> tuple[Row[Any], Sequence[Row[Any]]]:
            row = (await connection.execute(_BY_ID, {"case_id": case_id})).one()
            which = {"team_id": row.team_id, "case_id": case_id}
            return row, (await connection.execute(_RATINGS, which)).all()

        row, rows = await self._database.read(read)
        return _to_verdict(row, rows) if row.judged_at else None

    async def newest(self, limit: int) -> Sequence[LoggedCase]:
        return (await self._database.rows(LoggedCase, select(cases).order_by(cases.c.id.desc()).limit(limit)))[::-1]

    async def recent(
        self, team_id: str, user_id: str, limit: int, before: PageEnd | None = None, asked_since: datetime | None = None
    ) -> Sequence[LoggedCase]:
        """A person's newest cases, or the newest of those older than `before`.

        Cases that have waited for a question since before `asked_since` are left out.
        """
        query = select(cases).where(cases.c.team_id == team_id, cases.c.requester_id == user_id)
        if before:
            query = query.where(tuple_(cases.c.created_at, cases.c.id) < before)
        if asked_since:
            query = query.where(or_(cases.c.status != CaseStatus.ASKED, cases.c.created_at >= asked_since))
        return await self._listed(query.order_by(cases.c.created_at.desc(), cases.c.id.desc()).limit(limit))

    async def numbered(self, team_id: str, case_ids: Sequence[int]) -> Sequence[LoggedCase]:
        query = select(cases).where(cases.c.team_id == team_id, cases.c.id.in_(case_ids)).order_by(cases.c.id)
        return await self._listed(query)

    async def _listed(self, query: Select[Any]) -> Sequence[LoggedCase]:
        found = await self._database.rows(LoggedCase, query)
        # If no texts are kept, lists do not show those of cases under way, either.
        return found if self._keeps_text else [case.model_copy(update={"response": None}) for case in found]

    async def counts(self) -> Mapping[str, int]:
        """How many cases there are, by status. It is scraped every few seconds, so it reads only indexes."""
        number = func.count().label("number")
        unsettled = select(cases.c.status, number).where(IS_UNSETTLED).group_by(cases.c.status)
        # Delivered is the total less the others: SQLite counts rows by a narrow index, and has none by status.
        query = unsettled.union_all(select(null(), number).select_from(cases))
        found = {row.status: row.number for row in await self._database.all(query)}
        delivered = found.pop(None) - sum(found.values())
        return found | ({CaseStatus.DELIVERED: delivered} if delivered else {})

    async def ping(self) -> None:
        """Returns once the database has answered; what it reads does not grow with the number of cases."""
        await self._database.all(select(processes.c.id).limit(1))


_AT_ONCE = 100


class Edits(JobPart):
    """Marks the cases of messages that have changed since they were scored.

    A marked case is stale until its verdict in Slack says so, too. An attempt that is settling the case is not
    disturbed, because only this class and forgetting write these columns.
    """

    async def note_edited(self, team_id: str, channel_id: str, ts: str, text: str) -> Sequence[int]:
        """Marks the cases that were read from this message if it differs from `text`."""
        found, is_new = text_hash(text), _is_new(team_id, channel_id, cases.c.edited_at)
        scored = and_(cases.c.message_ts == ts, cases.c.response_hash != found, _is_one_message(Part.RESPONSE))
        asked = and_(cases.c.question_ts == ts, cases.c.question_hash != found, _is_one_message(Part.QUESTION))
        said = and_(_is_said_at(team_id, channel_id, ts), turns.c.text_hash != found)
        return await self._mark(team_id, [scored, asked], said, is_new, "edited_at")

    async def note_deleted(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Marks the cases that were read from this message; those at rest lose their texts.

        Of a reply of several messages, the deleted one leaves: the case is then marked as edited.
        """
        shortened = await self._shorten(team_id, channel_id, ts)
        is_new = _is_new(team_id, channel_id, cases.c.deleted_at)
        scored = and_(cases.c.message_ts == ts, _is_one_message(Part.RESPONSE))
        asked = cases.c.question_ts == ts
        said = and_(_is_said_at(team_id, channel_id, ts), cases.c.id.not_in(shortened))
        return [*shortened, *await self._mark(team_id, [scored, asked], said, is_new, "deleted_at")]

    async def note_added(self, case: LoggedCase) -> None:
        """Marks a case whose reply has gone on since it was scored, like an edited one."""
        is_it = and_(cases.c.id == case.id, cases.c.edited_at.is_(None))
        await self._mark(case.team_id, [is_it], false(), true(), "edited_at")

    async def note_continued(self, team_id: str, channel_id: str, last_ts: str, ts: str) -> Sequence[int]:
        """Marks the cases, but for watched ones, that have read a reply up to `last_ts`; `ts` is an addition to it."""
        has_both = cases.c.id.in_(select(turns.c.case_id).where(_is_said_at(team_id, channel_id, ts)))
        is_new = and_(_is_new(team_id, channel_id, cases.c.edited_at), cases.c.probability.is_(None), ~has_both)
        of_one = and_(cases.c.message_ts == last_ts, cases.c.question_source.is_not(None))
        of_several = and_(_is_said_at(team_id, channel_id, last_ts), turns.c.part == Part.RESPONSE)
        return await self._mark(team_id, [of_one], of_several, is_new, "edited_at")

    async def _shorten(self, team_id: str, channel_id: str, ts: str) -> Sequence[int]:
        """Takes a message out of the replies, at rest, that have others; returns the numbers of the cases.

        A reply is known by its first message that is left; one that a watch drew, by the one that it drew.
        """
        is_it = and_(_is_said_at(team_id, channel_id, ts), turns.c.part == Part.RESPONSE)
        at_rest = select(cases.c.id).join(turns, is_turn_of_case()).where(is_it, cases.c.status.in_(AT_REST))

        async def shorten(connection: AsyncConnection) -> Sequence[int]:
            await lock_learning(connection)
            shortened = []
            for case_id in (await connection.execute(at_rest)).scalars().all():
                of_reply = and_(turns.c.team_id == team_id, turns.c.case_id == case_id, turns.c.part == Part.RESPONSE)
                rest = select(turns.c.ts, turns.c.text).where(of_reply, turns.c.ts != ts).order_by(turns.c.position)
                left = (await connection.execute(rest)).all()
                texts = [row.text for row in left]
                if not texts or None in texts:  # without texts it is a deletion, so that the verdict quotes nothing
                    continue
                await connection.execute(delete(turns).where(of_reply, turns.c.ts == ts))
                response = join_texts(texts)
                marks = {"response": response, "messages": len(texts)}  # its hash stays: the score is of all
                marks |= {"justification": "", "edited_at": utc_now(), "is_stale": True}
                await connection.execute(update(cases).where(cases.c.id == case_id).values(marks))
                is_known_by_it = and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id)
                is_known_by_it = and_(is_known_by_it, cases.c.message_ts == ts, cases.c.probability.is_(None))
                await connection.execute(update(cases).where(is_known_by_it).values(message_ts=left[0].ts))
                shortened.append(case_id)
            await _drop_quotes(self._database, connection, [(team_id, case_id) for case_id in shortened])
            await self._jobs.put(connection, [Job(JobKind.AMEND, team_id, number) for number in shortened])
            return shortened

        return await self._database.write(shorten) if await self._database.values(at_rest.limit(1)) else []

    async def _mark(
        self,
        team_id: str,
        named: Sequence[ColumnElement[bool]],
        said: ColumnElement[bool],
        is_new: ColumnElement[bool],
        column: str,
    ) -> Sequence[int]:
        """Marks the cases for which one of `named` holds, or which have a turn for which `said` holds."""
        # Almost no message was ever scored, so this looks without the writers' lock. It is a union, because SQLite
        # would go through the whole channel for an "or".
        ids = select(cases.c.id).where(is_new)
        found = await self._database.values(
            union(*(ids.where(each) for each in named), ids.join(turns, is_turn_of_case()).where(said))
        )
        if not found:
            return []
        is_found = cases.c.id.in_(found)
        marks = {column: utc_now(), "is_stale": True}

        async def mark(connection: AsyncConnection) -> None:
            await lock_learning(connection)
            await connection.execute(update(cases).where(is_found).values(marks))
            if column == "deleted_at":
                await drop_texts(self._database, connection, and_(is_found, cases.c.status.in_(AT_REST)))
            await self._jobs.put(connection, [Job(JobKind.AMEND, team_id, number) for number in found])

        await self._database.write(mark)
        return found

    async def case(self, case_id: int) -> LoggedCase | None:
        """The case, if its verdict in Slack is out of date; otherwise None."""
        return await self._database.first(LoggedCase, select(cases).where(IS_STALE, cases.c.id == case_id))

    async def resubmit(self, team_id: str) -> None:
        """Writes the missing jobs for a team's stale verdicts: a safety net, and how a queue starts."""
        query = select(cases.c.id).where(IS_STALE, is_of_team(team_id), cases.c.status == CaseStatus.DELIVERED)
        stale = await self._database.values(query.order_by(cases.c.id).limit(_AT_ONCE))
        await self._jobs.submit([Job(JobKind.AMEND, team_id, each, key=f"amend/{each}") for each in stale])

    async def drop_texts(self, case: LoggedCase) -> None:
        async def drop(connection: AsyncConnection) -> None:
            await lock_learning(connection)
            await drop_texts(self._database, connection, cases.c.id == case.id)

        await self._database.write(drop)

    async def note_said(self, case: LoggedCase) -> None:
        """Records that the verdict in Slack says what `case` says, unless the case has been marked again since then."""
        is_same = and_(
            cases.c.edited_at.is_not_distinct_from(case.edited_at),
            cases.c.deleted_at.is_not_distinct_from(case.deleted_at),
            cases.c.forgotten_at.is_not_distinct_from(case.forgotten_at),
        )
        await self._database.execute(update(cases).where(cases.c.id == case.id, is_same).values(is_stale=False))


def _is_said_at(team_id: str, channel_id: str, ts: str) -> ColumnElement[bool]:
    is_there = and_(turns.c.team_id == team_id, turns.c.channel_id == channel_id)
    return and_(is_there, turns.c.ts == ts, turns.c.part != Part.SHARED)


def _is_new(team_id: str, channel_id: str, mark: ColumnElement[datetime]) -> ColumnElement[bool]:
    return and_(cases.c.team_id == team_id, cases.c.channel_id == channel_id, mark.is_(None))
