"""The case pipeline: takes a case from the step it has reached to the end, and stores each step.

    received ──(read the message, find the question, judge)──> judged ──(deliver)──> delivered
        └──(no question found)──> asked ──(the person types it)──> received

`settle` may be called at any time, any number of times, by any process: it continues a case from
the step it has reached, and only one attempt at a time holds a case. A step that fails is tried
again later (`retries`).
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

import structlog

from bot.domain.attempt import is_of_use
from bot.domain.case import CaseStatus, LoggedCase, requester_of, text_hash
from bot.domain.case_key import MessageKey
from bot.domain.verdict import CaseVerdict
from bot.pipeline import retries
from bot.pipeline import text as words
from bot.pipeline.completing import complete
from bot.pipeline.delivery import Delivery, taken_up
from bot.pipeline.intake import known_post
from bot.pipeline.judging import Judging, ModelFailure
from bot.pipeline.lookup import Lookup
from bot.pipeline.names import Names
from bot.pipeline.retries import RetryError
from bot.slack.client import SLACK_ERRORS
from bot.store import KeyTakenError, Store, TakenError
from bot.store.errors import STORE_ERRORS

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CasePipeline:
    """Settles the cases of one workspace."""

    store: Store
    judging: Judging
    lookup: Lookup
    delivery: Delivery
    names: Names

    quick_s = 1.0
    """A verdict within this time is posted without a placeholder, because Slack marks changed messages as edited."""
    slow_s = 30.0
    """After this time the placeholder says how many verdicts come before this one."""

    async def settle(self, case_id: int, trigger_id: str | None = None) -> None:
        """Takes a case as far as possible; `trigger_id`, while valid, can open a modal that asks
        for the question.

        Raises RetryError if the case is not settled yet, and continues after a pause.
        """
        try:
            claimed = await self.store.claim(case_id)
            if claimed is None:
                return
            if claimed.status is CaseStatus.RECEIVED:
                self.judging.begin_waiting(claimed)
            with self.judging.tracing.attempt(claimed):
                case = await self.store.cases.with_turns(claimed)
                settled = await self._settle(case, trigger_id)
            if settled:
                await self.names.note(settled)
        except KeyTakenError as exc:
            raise RetryError("another case has this reply since a moment ago", timedelta()) from exc
        except TakenError:
            logger.info("case_left_to_another", case=case_id)
        except STORE_ERRORS as exc:
            reason = retries.in_brief(exc) or ""
            next_in_s = retries.STORE_PAUSE.total_seconds()
            logger.error("database_out_of_reach", case=case_id, next_in_s=next_in_s, reason=reason)
            raise RetryError(reason, retries.STORE_PAUSE) from exc
        finally:
            self.judging.slots.patient.pop(case_id, None)

    async def _settle(self, claimed: LoggedCase, trigger_id: str | None) -> LoggedCase | None:
        """The case once its verdict is delivered; None if it waits for its question, or another
        case has its reply.
        """
        case = claimed
        try:
            if claimed.status is CaseStatus.RECEIVED:
                read = await self._to_judge(claimed, trigger_id)
                if read is None:
                    return None
                case, verdict = await self._judged(read, claimed)
            else:
                verdict = await self._recorded(case)
            with self.judging.tracing.step("deliver", case):
                case = await self.delivery.deliver(case, verdict)
                await self.store.note_delivered(case)
            logger.info(
                "case_settled", case=case.id, score=verdict.score, reason=verdict.unscored_reason
            )
            return case
        except SLACK_ERRORS as exc:
            case = await self.store.note_failure(case, "slack_tries")
            raise self._retry(case, exc, retries.growing_pause(case.slack_tries)) from exc
        except (TakenError, RetryError, *STORE_ERRORS):
            raise
        except Exception as exc:  # after any error, the case is kept and tried again after a pause
            case = await self.store.note_failure(case, "internal_errors")
            raise self._retry(case, exc, retries.growing_pause(case.internal_errors)) from exc

    async def _judged(
        self, read: LoggedCase, claimed: LoggedCase
    ) -> tuple[LoggedCase, CaseVerdict]:
        """The case with its new verdict; raises RetryError if the model is to be asked again later."""
        case = read
        is_intended = read is not claimed
        if is_intended:
            # Stored before the model is asked, so that a person can have their words forgotten
            # meanwhile.
            case = await self.store.intend(case, claimed)
        case = taken_up(case)
        judging = asyncio.create_task(self.judging.judge(case))
        try:
            done, _ = await asyncio.wait([judging], timeout=self.quick_s)
            if not done:
                case = await self._announced(case, is_intended)
                case = await self._told_if_slow(case, judging)
            verdict = await judging
        except ModelFailure as exc:
            await self._wait_for_the_model(case, is_intended, exc)
        finally:
            judging.cancel()
            self.judging.slots.patient.pop(case.id, None)
        case = await self._record(case, verdict)
        self.judging.tracing.judged(case, verdict)
        return case, verdict

    async def _recorded(self, case: LoggedCase) -> CaseVerdict:
        verdict = await self.store.cases.verdict(case.id)
        if verdict is None:
            raise LookupError(f"case {case.id} is judged and has no verdict in the database")
        return verdict

    async def _told_if_slow(self, case: LoggedCase, judging: asyncio.Task[Any]) -> LoggedCase:
        """The case, once it is judged or whoever waits for it has read its place in line."""
        if case.is_watched and case.reply_ts is None:
            return case
        done, _ = await asyncio.wait([judging], timeout=self.slow_s)
        if done:
            return case
        post = words.slow(self.judging.slots.place_of(case.id))
        return await self.delivery.say_delay(case, post, is_first=True)

    async def _to_judge(self, claimed: LoggedCase, trigger_id: str | None) -> LoggedCase | None:
        """The case with all that is judged; None if it waits for its question, or another case has
        its reply.
        """
        with self.judging.tracing.step("read", claimed):
            case, why_asked = await complete(self.lookup, claimed)
        if case.message_ts != claimed.message_ts:
            keyed = await self._keyed_by_reply(case)
            if keyed is None:
                return None
            case = keyed
        if case.lacks_question:
            # What was read is stored first, because a reply that its author had forgotten needs no
            # question.
            case = await self.store.renew(case, claimed)
        if case.lacks_question:
            # Asks first and stores that after: a crash in between asks the person twice rather than
            # never.
            await self.delivery.ask(case, trigger_id, why_asked)
            await self.store.note_asked(case)
            return None
        return case

    def _retry(self, case: LoggedCase, exc: Exception, pause: timedelta) -> RetryError:
        next_in_s = pause.total_seconds()
        reason = retries.note_interruption(
            "case_interrupted", exc, case=case.id, next_in_s=next_in_s
        )
        return RetryError(reason, pause)

    async def _wait_for_the_model(
        self, case: LoggedCase, is_intended: bool, failure: ModelFailure
    ) -> NoReturn:
        pause = self.judging.model_pauses[case.model_tries]
        case = await self._announced(case, is_intended)
        case = await self.store.note_failure(case, "model_tries")
        post = words.later(case, pause, len(self.judging.model_pauses))
        await self.delivery.say_delay(case, post, is_first=case.model_tries == 1)
        raise RetryError(str(failure), pause) from failure.__cause__

    async def _keyed_by_reply(self, case: LoggedCase) -> LoggedCase | None:
        """The case with its reply's key, if another message of that was chosen; None if another
        case has the reply.
        """
        if case.message_ts is None:
            return case
        key = MessageKey.asked_by(
            case.requester_id, case.visibility, case.channel_id, case.message_ts
        )
        case = case.model_copy(update={"key": str(key), "attempt": 1})
        read_hash = text_hash(case.response or "")
        while known := await self.store.cases.keyed(case.team_id, case.key):
            is_same = known.status is CaseStatus.RECEIVED or known.response_hash == read_hash
            if is_same and is_of_use(known, case):
                url = self.delivery.workspace_url
                post = await known_post(self.store, known, case.requester_id, url)
                await self.delivery.messenger.tell(requester_of(case), post)
                await self.store.drop(case)
                logger.info("case_joined", case=case.id, to=known.id)
                return None
            case = await self.store.cases.attempt_after(known, case, is_changed=not is_same)
        return case

    async def _announced(self, case: LoggedCase, is_intended: bool) -> LoggedCase:
        """The case with a placeholder in its thread; if Slack fails, the case goes on without one.

        The intent to post is stored first, unless it is already (`is_intended`).
        """
        if not case.is_posted or case.is_watched or case.blocked_by or case.reply_ts:
            return case
        if not is_intended:
            case = await self.store.intend(case)
        # Slack may have accepted a post whose answer was lost, so the next post must look for it
        # first.
        intended = case.model_copy(update={"thread_intent": True, "reply_intent": True})
        try:
            return await self.delivery.announce(case)
        except SLACK_ERRORS as exc:
            logger.warning("not_announced", case=case.id, reason=retries.in_brief(exc))
            return intended

    async def _record(self, case: LoggedCase, verdict: CaseVerdict) -> LoggedCase:
        """The case with its verdict, which is paid for: while the store is out of reach, it is
        tried a few times.
        """
        failed = 0
        while True:
            try:
                return await self.store.record(case, verdict)
            except TakenError:
                if not failed:
                    raise
                # Only the answer to an earlier try may have been lost; then the verdict is still to
                # be delivered.
                raise RetryError("the verdict may be recorded", retries.RECORD_PAUSES[0]) from None
            except STORE_ERRORS as exc:
                if failed == len(retries.RECORD_PAUSES):
                    raise
                pause_s = retries.RECORD_PAUSES[failed].total_seconds()
                logger.warning(
                    "verdict_not_recorded",
                    case=case.id,
                    reason=retries.in_brief(exc),
                    next_in_s=pause_s,
                )
                await asyncio.sleep(pause_s)
                failed += 1
