"""Improves a channel's judge: learns from people's labels, and proposes a rubric whose scores are closer to them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import TypeVar

import structlog

from bot.domain.case import Recipient
from bot.feature import Services
from bot.features.rubrics import improvement_text as words
from bot.features.rubrics.improvement_queries import UNTOLD, Improvement, Improvements
from bot.features.rubrics.replay_queries import Labelled
from bot.pipeline.asking import ask, tokens_of
from bot.pipeline.judges import Judges
from bot.pipeline.retries import RetryError, may_pass
from bot.pipeline.text import in_minutes, sentence
from bot.slack.blocks import permalink
from bot.slack.client import SLACK_ERRORS
from bot.slack.messenger import Post, Posted
from bot.store.examples import Progress
from judge import Judge, JudgeError, Turn, Verdict
from judge.evaluation.align import Alignment, Asker, Budget, BudgetError, LabelledCase, Way, align
from judge.evaluation.align.examples import examples_of
from judge.scoring.judging import Written

BUDGET = Budget(requests=400, tokens=2_000_000)
_AT_ONCE = 2
_TELL_EVERY = 10

T = TypeVar("T")
logger = structlog.get_logger(__name__)


async def run(services: Services, judges: Judges, number: int, pauses: Iterator[timedelta]) -> None:
    """Runs an improvement until the person who asked for it can decide, or until it ends without a proposal.

    Does nothing if it has been offered or used already. After a crash, it does not repeat requests that were answered.
    If the model does not answer, it raises RetryError for each of the `pauses`; after the last one, it ends. Raises one
    of `SLACK_ERRORS` if the person could not be told.
    """
    log = Improvements.from_store(services.store)
    improvement = await log.find(number)
    if improvement is None or improvement.status not in UNTOLD:
        return
    message = await _message(services, improvement)
    if message is None:
        here = Recipient(improvement.user_id, improvement.channel_id, is_in_channel=True)
        await services.messenger.tell(here, words.NO_DIRECT_MESSAGE)
        await log.drop(number)
        return
    post, prompt = await _Work(services, judges, improvement, message, pauses).come_to()
    now = await log.find(number)
    if now and now.status in (Progress.OFFERED, Progress.USED):  # an earlier run told the person, then was killed
        return
    if prompt and not await log.propose(number, prompt):
        post, prompt = sentence(words.ended(await log.find(number), improvement.channel_id)), None
    if not await services.messenger.update(message, post):  # the person deleted the message
        await _post(services, improvement, post)
    await (log.offer(number) if prompt else log.drop(number))
    logger.info("rubric_improved", channel=improvement.channel_id, is_offered=prompt is not None)


async def _message(services: Services, improvement: Improvement) -> Posted | None:
    """The direct message that shows the progress; None if the person cannot be sent one."""
    if improvement.message_channel and improvement.message_ts:
        return Posted(improvement.message_channel, improvement.message_ts)
    return await _post(services, improvement, words.progress(improvement, words.STARTING))


async def _post(services: Services, improvement: Improvement, post: Post) -> Posted | None:
    message = await services.messenger.direct(Recipient(improvement.user_id, improvement.channel_id), post)
    if message:
        await Improvements.from_store(services.store).note_message(improvement.id, *message)
    return message


@dataclass(frozen=True)
class _Counted:
    """A judge whose requests all count in the limits."""

    judge: Judge
    work: "_Work"

    @property
    def version(self) -> str:
        return self.judge.version

    async def score(self, question: str, response: str, *, conversation: Sequence[Turn] = ()) -> Verdict:
        ask = partial(self.judge.score, question, response, conversation=conversation)
        texts = [question, response, *(each.text for each in conversation), self.judge.reference]
        return await self.work.ask(texts, ask, tokens_of)

    async def write(self, prompt: str) -> Written:
        return await self.work.ask([prompt], partial(self.judge.write, prompt), lambda found: found.tokens or 0)


@dataclass
class _Work:
    """One attempt at an improvement; `message` shows the person its stage and what the `asker` has used."""

    services: Services
    judges: Judges
    improvement: Improvement
    message: Posted
    pauses: Iterator[timedelta]
    stage: str = words.STARTING
    asked: int = 0
    asker: Asker | None = None
    has_left: bool = False

    async def come_to(self) -> tuple[Post, str | None]:
        """What the person is told at the end, and the prompt of the rubric that is offered, if any."""
        channel = self.improvement.channel_id
        found = await self._learn()
        if not await self.services.access.is_in(channel, self.improvement.user_id):
            return sentence(words.NOT_BOTH_HERE), None
        now = await Improvements.from_store(self.services.store).find(self.improvement.id)
        return found if _is_running(now) else (sentence(words.ended(now, channel)), None)

    async def _learn(self) -> tuple[Post, str | None]:
        channel = self.improvement.channel_id
        judge = await self.judges.by(*self.improvement.place, self.improvement.judge)
        if judge is None:
            return sentence(words.GONE.format(channel=channel)), None
        examples = examples_of(judge.rubric)
        found = await Improvements.from_store(self.services.store).learn(self.improvement, judge.rubric.scale, examples)
        if found is None:
            return sentence(words.FORGOTTEN.format(channel=channel)), None
        cases = [each.case for each in found]
        if why := words.obstacle(judge.model, cases):
            return sentence(why), None
        try:
            await asyncio.to_thread(import_module, "gepa.api")  # it takes seconds, which would block the event loop
            return await self._report(judge, cases, await self._align(judge, found, cases))
        except JudgeError as exc:
            logger.warning("judge_failed", channel=channel, error=type(exc).__name__, reason=str(exc))
            if not may_pass(exc) or (pause := next(self.pauses, None)) is None:
                return sentence(words.NO_MODEL.format(channel=channel)), None
            self.stage = words.WAITS.format(when=in_minutes(pause))
            await self._tell()
            raise RetryError(type(exc).__name__, pause) from exc

    async def _align(self, judge: Judge, found: Sequence[Labelled], cases: Sequence[LabelledCase]) -> Alignment:
        known = {each.case.id: each.scored for each in found if each.judge_version == judge.version}
        model = self.improvement.judge_model
        asker = self.asker = Asker(
            lambda rubric: _Counted(self.judges.with_rubric(rubric, model).against(judge.reference), self),
            Improvements.from_store(self.services.store).records(*self.improvement.place),
            BUDGET,
            known=known,
            concurrency=_AT_ONCE,
        )

        async def tell(way: Way, tested: int) -> None:
            self.stage = words.stage(way, tested)
            await self._tell()

        return await align(cases, judge.rubric, asker, tell=tell)

    async def _report(self, judge: Judge, cases: Sequence[LabelledCase], found: Alignment) -> tuple[Post, str | None]:
        memory = Improvements.from_store(self.services.store).records(*self.improvement.place)
        attempts = await memory.get("attempts") or {}
        links = {}
        for each in found.better.changes if found.better else ():
            case = await self.services.store.cases.find(self.improvement.team_id, int(each.case.id))
            if case and (ts := case.message_ts or case.thread_ts):
                thread = case.thread_ts or case.parent_ts
                links[each.case.id] = permalink(self.services.identity.url, case.channel_id, ts, thread)
        return words.report(self.improvement, found, cases, len(attempts), judge.rubric, links)

    async def ask(self, texts: Sequence[str], request: Callable[[], Awaitable[T]], taken: Callable[[T], int]) -> T:
        """Like `asking.ask`, but also raises `BudgetError` if the person has left or it has ended."""
        if self.asked % _TELL_EVERY == 0:
            with suppress(*SLACK_ERRORS):  # the next check tries again
                person = self.improvement.channel_id, self.improvement.user_id
                self.has_left = not await self.services.access.is_in(*person)
            await self._tell()
        self.asked += 1
        if self.has_left or await self._is_over():
            raise BudgetError
        return await ask(self.services.store, self.services.limits, self.improvement.team_id, texts, request, taken)

    async def _tell(self) -> None:
        if await self._is_over():  # the message already shows that, or the decision
            return
        asker = self.asker
        figures = ""
        if asker:
            figures = words.FIGURES.format(requests=asker.requests, most=BUDGET.requests, tokens=asker.tokens)
        with suppress(*SLACK_ERRORS):  # the next update makes up for it
            await self.services.messenger.update(self.message, words.progress(self.improvement, self.stage, figures))

    async def _is_over(self) -> bool:
        return not _is_running(await Improvements.from_store(self.services.store).find(self.improvement.id))


def _is_running(improvement: Improvement | None) -> bool:
    return improvement is not None and improvement.status == Progress.RUNNING
