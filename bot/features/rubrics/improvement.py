"""Improves a channel's judge: learns from people's labels, and proposes a rubric whose scores are
closer to them.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog

from bot.domain.case import Recipient
from bot.feature import Services
from bot.features.rubrics import improvement_text as words
from bot.features.rubrics.comparison import BUDGET, Counted
from bot.features.rubrics.queries import UNTOLD, JudgeRequest, JudgeRequests, Records
from bot.pipeline.asking import ask
from bot.pipeline.judges import Judges
from bot.slack.blocks import permalink
from bot.slack.client import SLACK_ERRORS
from bot.slack.messenger import Post, Posted, sentence
from bot.store.examples import Progress
from judge import Judge, JudgeError
from judge.evaluation.align import Asker, BudgetError, Way, align
from judge.evaluation.align.examples import examples_of

logger = structlog.get_logger(__name__)


async def run(services: Services, number: int) -> None:
    """Runs an improvement until the person who asked for it can decide, or until it ends without a
    proposal.

    Does nothing if it has been offered or used already. After a crash, it does not repeat requests
    that were answered. Raises one of `SLACK_ERRORS` if the person could not be told.
    """
    log, judges = JudgeRequests(services.store.database), services.judges
    request = await log.find(number)
    if judges is None or request is None or request.status not in UNTOLD:
        return
    here = Recipient(request.user_id, request.channel_id, is_in_channel=True)
    message = Posted(request.message_channel or "", request.message_ts or "")
    if not message.ts:
        sent = await services.messenger.direct(here, words.progress(request, words.STARTING))
        if sent is None:
            await services.messenger.tell(here, words.NO_DIRECT_MESSAGE)
            await log.drop(number)
            return
        message = sent
        await log.note_message(number, *message)
    post, prompt = await _Work(services, log, request, message).come_to(judges)
    now = await log.find(number)
    if now and now.status in (
        Progress.OFFERED,
        Progress.USED,
    ):  # an earlier run told the person, then was killed
        return
    if prompt and not await log.propose(number, prompt):
        post, prompt = sentence(words.ended(await log.find(number), request.channel_id)), None
    is_shown = await services.messenger.update(message, post)
    if not is_shown and (
        sent := await services.messenger.direct(here, post)
    ):  # the person deleted the message
        await log.note_message(number, *sent)
    await (log.offer(number) if prompt else log.drop(number))
    logger.info("rubric_improved", channel=request.channel_id, is_offered=prompt is not None)


@dataclass
class _Work:
    """One attempt at an improvement; `message` shows the person its stage and what the `asker` has
    used.
    """

    services: Services
    log: JudgeRequests
    request: JudgeRequest
    message: Posted
    stage: str = words.STARTING
    asked: int = 0
    asker: Asker | None = None
    has_left: bool = False

    async def come_to(self, judges: Judges) -> tuple[Post, str | None]:
        """What the person is told at the end, and the prompt of the rubric that is offered, if any."""
        channel, judge = (
            self.request.channel_id,
            await judges.by(*self.request.place, self.request.judge),
        )
        try:
            post, prompt = (
                await self._learn(judge)
                if judge
                else (sentence(words.GONE.format(channel=channel)), None)
            )
        except JudgeError as exc:
            logger.warning(
                "judge_failed", channel=channel, error=type(exc).__name__, reason=str(exc)
            )
            post, prompt = sentence(words.NO_MODEL.format(channel=channel)), None
        if not await self.services.access.is_in(channel, self.request.user_id):
            return sentence(words.NOT_BOTH_HERE), None
        now = await self.log.find(self.request.id)
        return (post, prompt) if _is_running(now) else (sentence(words.ended(now, channel)), None)

    async def _learn(self, judge: Judge) -> tuple[Post, str | None]:
        found = await self.log.learn(self.request, judge.rubric.scale, examples_of(judge.rubric))
        if found is None:
            return sentence(words.FORGOTTEN.format(channel=self.request.channel_id)), None
        cases, memory = (
            [each.case for each in found],
            Records(self.services.store.database, *self.request.place),
        )
        if why := words.obstacle(judge.model, cases):
            return sentence(why), None
        known = {each.case.id: each.scored for each in found if each.judge_version == judge.version}
        self.asker = Asker(
            lambda rubric: Counted(judge.by(rubric), self.ask),
            memory,
            BUDGET,
            known=known,
            concurrency=2,
        )
        result = await align(cases, judge.rubric, self.asker, tell=self._tell_stage)
        links = {}
        for each in result.better.changes if result.better else ():
            case = await self.services.store.cases.find(self.request.team_id, int(each.case.id))
            if case and (ts := case.message_ts or case.thread_ts):
                thread = case.thread_ts or case.parent_ts
                links[each.case.id] = permalink(
                    self.services.identity.url, case.channel_id, ts, thread
                )
        attempts = len(await memory.get("attempts") or {})
        return words.report(self.request, result, cases, attempts, judge.rubric, links)

    async def ask(self, *asking: Any) -> Any:
        """Like `asking.ask`, but also raises `BudgetError` if the person has left or it has ended."""
        if self.asked % 10 == 0:  # not each time: it calls Slack
            with suppress(*SLACK_ERRORS):  # the next check tries again
                self.has_left = not await self.services.access.is_in(
                    self.request.channel_id, self.request.user_id
                )
            await self._tell()
        self.asked += 1
        if self.has_left or not _is_running(await self.log.find(self.request.id)):
            raise BudgetError
        return await ask(self.services.store, self.services.limits, self.request.team_id, *asking)

    async def _tell_stage(self, way: Way, tested: int) -> None:
        self.stage = words.stage(way, tested)
        await self._tell()

    async def _tell(self) -> None:
        if not _is_running(
            await self.log.find(self.request.id)
        ):  # the message already shows that, or the decision
            return
        figures = ""
        if asker := self.asker:
            figures = words.FIGURES.format(
                requests=asker.requests, most=BUDGET.requests, tokens=asker.tokens
            )
        with suppress(*SLACK_ERRORS):  # the next update makes up for it
            await self.services.messenger.update(
                self.message, words.progress(self.request, self.stage, figures)
            )


def _is_running(request: JudgeRequest | None) -> bool:
    return request is not None and request.status == Progress.RUNNING
