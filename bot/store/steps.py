"""The steps of a case, each written once it is certain: a process that dies continues from the last."""

import uuid
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.case import Case, CaseStatus, Exclusion, LoggedCase, QuestionSource, text_hash
from bot.domain.case_key import WatchKey
from bot.domain.clock import Clock, check_deadline, clock_s
from bot.domain.limits import Limits
from bot.domain.verdict import CaseVerdict
from bot.store import database as db
from bot.store import jobs, spending, watches
from bot.store.cases import Cases, rating_rows, verdict_values
from bot.store.edits import drop_texts
from bot.store.forgotten import without_forgotten
from bot.store.schema import IS_OPEN, cases, ratings
from bot.store.tables import Condition
from bot.store.turns import add_turns, replace_turns
from bot.store.writer import after_commit


class TakenError(Exception):
    """Another attempt has claimed the case, or it has moved on; this attempt must stop."""


class KeyTakenError(TakenError):
    """Another case has just got the key that this one was about to get."""


def _of_case(lease_owner: Condition, status: Condition | sa.TextClause) -> sa.UpdateBase:
    """A statement that updates `case_id` if it has this owner and status; its values are given when
    it is executed.
    """
    its = sa.update(cases).where(cases.c.id == sa.bindparam("case_id"), status, lease_owner)
    return its.returning(cases.c.is_stale)


_HELD = cases.c.lease_owner == sa.bindparam("held_by")
# Named after the methods of `Store` that execute them.
CLAIM = (
    sa.update(cases)
    .where(cases.c.id == sa.bindparam("case_id"), IS_OPEN)
    .values(lease_owner=sa.bindparam("new_owner"))
    .returning(cases)
)
STEP = _of_case(_HELD, IS_OPEN)
RECORD = _of_case(_HELD, cases.c.status == sa.literal_column("'received'"))
FINISH = _of_case(_HELD, cases.c.status == sa.literal_column("'judged'"))
_AS_STORED = (cases.c.id, cases.c.question, cases.c.response)
ADD = sa.insert(cases).returning(*_AS_STORED, *jobs.counts_beside())


async def _change(
    connection: AsyncConnection, statement: sa.UpdateBase, case: LoggedCase, values: dict[str, Any]
) -> bool:
    """Updates a case in the expected state, or raises TakenError; returns whether its verdict is
    stale.
    """
    # How far our messages in Slack have come is written with every step.
    posted = {"thread_ts": case.thread_ts, "reply_ts": case.reply_ts, "blocked_by": case.blocked_by}
    its = posted | values | {"case_id": case.id, "held_by": case.lease_owner}
    row = (await connection.execute(statement, its)).one_or_none()
    if row is None:
        raise TakenError(f"case {case.id}")
    return bool(row.is_stale)


# What may be found in Slack while a case is settled; its turns have a table of their own.
_FOUND = Case.model_fields.keys() - {"turns"}
_INTENTS = {"thread_intent": True, "reply_intent": True}
_NO_LIMITS = Limits()

Failure = Literal["slack_tries", "model_tries", "internal_errors"]
"""What failed, by the column that counts it."""


class CaseSteps:
    """Takes a case from one step to the next.

    An attempt claims a case before settling it, which writes a new lease owner. Every later step
    checks that owner and raises `TakenError` if it has changed, so a process that froze and woke up
    is refused. The steps return the case as it is then, without reading it again. `since` is the
    case as it was claimed: what was found in Slack since then is written with the step.

    With `store_text="none"` the two texts and what the model wrote about them, justifications
    included, are dropped once the verdict is delivered. Hashes, scores and the timestamps of the
    messages are kept.
    """

    def __init__(self, database: db.Database, store_text: str, clock: Clock) -> None:
        self.database = database
        self._now = clock
        self._keeps_text = store_text == "full"
        self.cases = Cases(database)

    async def add(
        self,
        case: Case,
        trigger_id: str | None = None,
        limits: Limits = _NO_LIMITS,
    ) -> tuple[LoggedCase, bool]:
        """The case, stored together with a job that settles it, and whether it is new.

        The same key in the same team is the same case. The more open cases a person has in a
        channel, the later is the turn of their next one there; among people with equally many, the
        more open cases the channel has. Raises RefusedError if a new one exceeds the limits, and
        TooLateError if the requester no longer waits for an answer.
        """
        add = partial(self._add, case=case, trigger_id=trigger_id, limits=limits)
        try:
            return await self.database.write(add, is_of_case=True), True
        except IntegrityError:
            known = await self.cases.keyed(case.team_id, case.key)
            if known is None:
                raise
            return known, False

    async def _add(
        self, connection: AsyncConnection, case: Case, trigger_id: str | None, limits: Limits
    ) -> LoggedCase:
        if limits.are_there:
            await db.lock_for_transaction(connection, f"cases of {case.team_id}")
        kept = await without_forgotten(connection, case)
        added, priority = await self._insert(connection, kept)
        if limits.are_there:
            await spending.check(connection, limits, case)
        await add_turns(connection, kept, added.id)
        if self.database.is_sqlite:  # only this process works in the file
            after_commit(connection, partial(self._keep, added))
        await jobs.put_jobs(self.database, connection, [jobs.settling(added, trigger_id, priority)])
        # Checked last: on a busy machine each statement before it may have waited.
        check_deadline()
        return added

    async def _insert(self, connection: AsyncConnection, case: Case) -> tuple[LoggedCase, int]:
        """The case as it is stored now, and the priority of its job."""
        values = self._new_values(case)
        beside = {
            "of_team": case.team_id,
            "of_channel": case.channel_id,
            "of_user": case.requester_id,
        }
        row = (await connection.execute(ADD, values | beside)).one()
        stored = {each.name: row._mapping[each.name] for each in _AS_STORED}
        priority = jobs.priority(row.of_person, row.of_channel, row.of_workspace)
        return LoggedCase.model_validate(values | stored), priority

    def _new_values(self, case: Case) -> dict[str, Any]:
        return case.model_dump(exclude={"turns"}) | {
            "status": CaseStatus.RECEIVED,
            "question_hash": _hash(case.question),
            "response_hash": _hash(case.response),
            "created_at": self._now(),
            "lease_owner": _new_name(),
        }

    async def _keep(self, added: LoggedCase) -> None:
        self.database.added[added.id] = added

    async def refusal(self, team_id: str, requester_id: str, limits: Limits) -> str:
        """Why the limits would refuse the requester's next case; empty if they would not."""
        if not limits.are_there:
            return ""
        read = partial(spending.refusal, limits=limits, whose=(team_id, requester_id))
        return await self.database.read(read)

    async def reopen(
        self, case: LoggedCase, response_url: str | None, trigger_id: str | None
    ) -> None:
        """Takes up again a case that waits for its question, because its requester asks again, from
        elsewhere.
        """
        values = {"status": CaseStatus.RECEIVED, "response_url": response_url}
        await self._open_again(case, cases.c.status == CaseStatus.ASKED, values, trigger_id)

    async def answer(self, case: LoggedCase, question: str) -> None:
        """Records the question that the person typed; only the first answer counts, however early
        it comes.
        """
        answered = case.model_copy(update={"question": question})
        values = {
            "status": CaseStatus.RECEIVED,
            "question": question,
            "question_source": QuestionSource.TYPED,
            "question_author_id": case.requester_id,
            "question_hash": _hash(question),
            # an attempt under way does not have this question, and must stop
            "lease_owner": _new_name(),
        }
        waits = sa.and_(
            cases.c.status.in_((CaseStatus.RECEIVED, CaseStatus.ASKED)), cases.c.question.is_(None)
        )
        await self._open_again(answered, waits, values, None)

    async def claim(self, case_id: int) -> LoggedCase | None:
        """The case, held by this attempt alone; None if it is not open."""
        # This process has had the lease since it was added.
        if added := self.database.added.pop(case_id, None):
            return _after(added, {})
        values = {"case_id": case_id, "new_owner": _new_name()}

        async def claim(connection: AsyncConnection) -> LoggedCase | None:
            row = (await connection.execute(CLAIM, values)).one_or_none()
            return LoggedCase(**row._mapping) if row else None

        case = await self.database.settle(None, claim, is_single=True)
        return _after(case, {}) if case else None

    async def intend(self, case: LoggedCase, since: LoggedCase | None = None) -> LoggedCase:
        """Records that our messages are about to be posted, so that a later attempt looks for them
        first.

        The returned case says whether they were intended before; only then do we have to look for
        them.
        """
        stored = await self._step(case, _INTENTS if case.is_posted else {}, since)
        before = {intent: getattr(case, intent) for intent in _INTENTS}
        return stored.model_copy(update=before)

    async def renew(self, case: LoggedCase, since: LoggedCase | None = None) -> LoggedCase:
        """The case, still held; for when so much time has passed since the last step that it may
        have been claimed.
        """
        return await self._step(case, {}, since)

    async def note_asked(self, case: LoggedCase) -> LoggedCase:
        return await self._step(case, {"status": CaseStatus.ASKED})

    async def note_failure(self, case: LoggedCase, of: Failure) -> LoggedCase:
        """The case after a failure that ends the attempt: of Slack, of the model, when Slack was
        there, or our own.
        """
        reset = {"slack_tries": 0} if of == "model_tries" else {}
        return await self._step(case, reset | {of: getattr(case, of) + 1})

    async def record(self, case: LoggedCase, verdict: CaseVerdict) -> LoggedCase:
        """Records the verdict, its ratings and the intent to post, in one transaction; a case keeps
        its first verdict.
        """
        values = {
            **verdict_values(verdict),
            "status": CaseStatus.JUDGED,
            "judged_at": self._now(),
            "slack_tries": 0,
            "internal_errors": 0,
        }

        async def record(connection: AsyncConnection) -> None:
            if version := verdict.judge_version:
                values["judge_version"] = await watches.version_since(connection, case, version)
            await _change(connection, RECORD, case, values | (_INTENTS if case.is_posted else {}))
            if verdict.ratings:
                await connection.execute(sa.insert(ratings), rating_rows(case, verdict.ratings))
            if case.is_watched:
                await _count_once(connection, case, is_scored=verdict.score is not None)

        await self.database.settle(case, record)
        return _after(case, values)

    async def note_delivered(self, case: LoggedCase) -> LoggedCase:
        values = {"status": CaseStatus.DELIVERED, "delivered_at": self._now(), "response_url": None}

        async def finish(connection: AsyncConnection) -> bool:
            if not self._keeps_text:
                await db.lock_words(connection)
            is_stale = await _change(connection, FINISH, case, values)
            if not self._keeps_text:
                await drop_texts(self.database, connection, cases.c.id == case.id)
            return is_stale

        # Its message may have been edited or deleted in the meantime, and the verdict does not say
        # so.
        if await self.database.settle(case, finish, is_single=self._keeps_text):
            await jobs.submit_jobs(self.database, jobs.amending(case.team_id, [case.id]))
        dropped = {} if self._keeps_text else {"question": None, "response": None}
        return _after(case, values | dropped)

    async def drop(self, case: LoggedCase) -> None:
        """Deletes a case that asks for what another one asks for already."""
        is_its = sa.and_(cases.c.id == case.id, cases.c.lease_owner == case.lease_owner)
        if not await self.database.execute(sa.delete(cases).where(is_its)):
            raise TakenError(f"case {case.id}")

    async def _step(
        self, case: LoggedCase, values: dict[str, Any], since: LoggedCase | None = None
    ) -> LoggedCase:
        async def step(connection: AsyncConnection) -> LoggedCase:
            if since is None:
                await _change(connection, STEP, case, values)
                return _after(case, values)
            kept = await without_forgotten(connection, case)
            changes = values | _found(kept, since)
            await _change(connection, STEP, kept, changes)
            if kept.turns != since.turns:
                await replace_turns(connection, kept, case.id)
            return _after(kept, changes)

        try:
            return await self.database.settle(case, step, is_single=since is None)
        except IntegrityError as exc:
            known = await self.cases.keyed(case.team_id, case.key)
            if known is None or known.id == case.id:
                raise
            raise KeyTakenError(case.key) from exc

    async def _open_again(
        self,
        case: LoggedCase,
        waits: Condition,
        values: dict[str, Any],
        trigger_id: str | None,
    ) -> None:
        waiting = sa.update(cases).where(cases.c.id == case.id, waits)
        opening = waiting.values(values | {"opened": cases.c.opened + 1})

        async def open_again(connection: AsyncConnection) -> None:
            opened = (await connection.execute(opening.returning(cases.c.opened))).scalar()
            if opened is not None:
                changed = case.model_copy(update={"opened": opened})
                await jobs.put_jobs(self.database, connection, [jobs.settling(changed, trigger_id)])

        self.database.added.pop(case.id, None)  # it is not as it was added
        await self.database.write(open_again, is_of_case=True)


async def _count_once(connection: AsyncConnection, case: LoggedCase, *, is_scored: bool) -> None:
    """Of a reply that a watch had scored twice, one verdict counts: the last with a score; one
    without any is missed, and others of its day stand for it in the figures.
    """
    if case.attempt > 1:
        key = replace(WatchKey.parse(case.key), is_again=not is_scored)
        its = sa.update(cases).filter_by(team_id=case.team_id, key=str(key))
        await connection.execute(its.values(excluded=Exclusion.CONTINUED))
    elif not is_scored:
        await connection.execute(watches.miss(case))


def _found(case: LoggedCase, since: LoggedCase) -> dict[str, Any]:
    found = {
        name: getattr(case, name) for name in _FOUND if getattr(case, name) != getattr(since, name)
    }
    return found | {
        f"{name}_hash": _hash(found[name]) for name in ("question", "response") if name in found
    }


def _after(case: LoggedCase, values: dict[str, Any]) -> LoggedCase:
    return case.model_copy(update=values | {"asked_at_s": clock_s()})


def _new_name() -> str:
    """A name that no attempt has had, so that an attempt that knows an earlier one is refused."""
    return uuid.uuid4().hex


def _hash(text: str | None) -> str | None:
    return None if text is None else text_hash(text)
