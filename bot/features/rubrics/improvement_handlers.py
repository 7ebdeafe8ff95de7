"""`/judge rubric improve`, and the buttons of the message that shows its progress and result."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.clock import utc_now
from bot.domain.rubric import ChannelJudge, SavedRubric
from bot.feature import Services
from bot.features.rubrics import ids
from bot.features.rubrics import improvement_text as words
from bot.features.rubrics.comparison import BUDGET, tell_other, use
from bot.features.rubrics.queries import JudgeRequest, JudgeRequests
from bot.features.rubrics.text import LONGEST_NAME, TOO_MANY
from bot.pipeline.text import COMMAND_TOO_SLOW, sentence
from bot.slack import invocation as payloads
from bot.slack.blocks import Block, short_date
from bot.slack.messenger import Post, Posted
from bot.store.examples import Aim, Progress
from bot.store.rubrics import SavedBeforeError, TooManyRubricsError
from judge import Rubric
from judge.evaluation.align import LEAST_FOR_PROMPTS
from judge.evaluation.align.cases import threads_of

_IMPROVED = "-improved"


async def begin(services: Services, team_id: str, channel_id: str, user_id: str) -> str:
    """Begins an improvement unless one is running; returns that it has begun, or why it cannot."""
    place, log = (team_id, channel_id), JudgeRequests.from_store(services.store)
    chosen, rubric = await services.rubrics.log.chosen(*place), await services.rubrics.of(*place)
    settings = services.settings
    model = chosen.model if chosen.model in settings.judge_models else settings.judge_model
    found = await log.labelled(*place, rubric.scale)
    if why := words.obstacle(model or "", [each.case for each in found]):
        return why
    last = await log.begin(Aim.IMPROVE, *place, user_id, chosen)
    if last and last.status == Progress.RUNNING:
        return words.RUNNING.format(user=last.user_id, at=short_date(last.asked_at))
    if last and last.status == Progress.OFFERED and last.user_id != user_id:
        await tell_other(services, last.user_id, channel_id, words.REPLACED.format(user=user_id, channel=channel_id))
    threads = len(threads_of([each.case for each in found]))
    # With fewer threads, only a calibration is learnt, which needs one score of each case.
    requests = BUDGET.requests if threads >= LEAST_FOR_PROMPTS else min(len(found), BUDGET.requests)
    expected = services.limits.expected_tokens
    tokens = requests * fmean(expected(each.case.question, each.case.response) for each in found)
    tokens = round(min(tokens, BUDGET.tokens), -3)
    return words.BEGUN.format(cases=len(found), threads=threads, requests=requests, tokens=f"{tokens:,.0f}")


@dataclass(frozen=True)
class _Press:
    """A button of a message with these `blocks`, pressed by who asked for it and may still change the rubrics."""

    services: Services
    improvement: JudgeRequest
    trigger_id: str
    blocks: Sequence[Block]

    async def show(self, post: Post) -> None:
        message = Posted(self.improvement.message_channel or "", self.improvement.message_ts or "")
        await self.services.messenger.update(message, post)

    async def decide(self, said: str, *, goes_back: bool = False) -> str:
        """Shows the decision below the figures, and returns an empty answer, because that says it all."""
        await self.show(words.decided(self.blocks, said, self.improvement.id if goes_back else None))
        return ""

    async def stop(self) -> str:
        if not await JudgeRequests.from_store(self.services.store).stop(self.improvement.id):
            return words.CLOSED
        await self.show(sentence(words.STOPPED.format(channel=self.improvement.channel_id)))
        return ""

    async def leave(self, said: str = words.LEFT) -> str:
        is_left = await JudgeRequests.from_store(self.services.store).leave(self.improvement.id)
        return await self.decide(said) if is_left else words.CLOSED

    async def use(self) -> str:
        """Saves the new text as a version of the channel's own rubric, and switches the channel to it."""
        improvement, log, services = self.improvement, self.services.rubrics.log, self.services
        if improvement.prompt is None:
            return words.CLOSED
        if await log.chosen(*improvement.place) != improvement.judge:
            return await self.leave(words.CHANGED_MEANWHILE)
        name = new_name(improvement, services.rubrics.default)
        last = await log.find(*improvement.place, name)
        if last and last.saved_at > improvement.asked_at:
            return await self.leave(words.SAVED_MEANWHILE.format(name=name))
        number = last.number + 1 if last else 1
        new = SavedRubric(*improvement.place, name, number, improvement.prompt, improvement.user_id, utc_now())
        judge = ChannelJudge(name, new.rubric.version, improvement.judge_model)
        decides = JudgeRequests.from_store(services.store).use(improvement.id)
        try:
            said = await use(services, *improvement.place, improvement.user_id, judge, decides, new)
        except SavedBeforeError:
            return await self.leave(words.SAVED_MEANWHILE.format(name=name))
        except TooManyRubricsError:
            return TOO_MANY
        return await self.decide(said, goes_back=True) if said else words.CLOSED

    async def go_back(self) -> str:
        improvement, rubrics = self.improvement, self.services.rubrics
        decides = JudgeRequests.from_store(self.services.store).go_back(improvement.id)
        # Compare the name, because the version changes if one of the rubric's examples is forgotten.
        if (await rubrics.log.chosen(*improvement.place)).rubric != new_name(improvement, rubrics.default):
            return words.CHOSEN_SINCE
        said = await use(self.services, *improvement.place, improvement.user_id, improvement.judge, decides)
        return await self.decide(said) if said else words.CLOSED

    async def view(self) -> str:
        improvement, rubrics = self.improvement, self.services.rubrics
        name = improvement.rubric or rubrics.default
        before = await rubrics.find(*improvement.place, name, improvement.rubric_version)
        if before is None or improvement.prompt is None:
            return words.CLOSED
        view = words.view_modal(before, Rubric(name, improvement.prompt))
        opened = await self.services.messenger.open_modal(self.trigger_id, view)
        return "" if opened else COMMAND_TOO_SLOW


_DO = {
    ids.ACTION_IMPROVE_STOP: _Press.stop,
    ids.ACTION_IMPROVE_USE: _Press.use,
    ids.ACTION_IMPROVE_LEAVE: _Press.leave,
    ids.ACTION_IMPROVE_BACK: _Press.go_back,
    ids.ACTION_IMPROVE_VIEW: _Press.view,
}


def register(app: AsyncApp, services: Services) -> None:
    @payloads.on_click(app, *_DO)
    async def press(body: dict[str, Any]) -> None:
        said = await _answer(services, body)
        if said:
            await services.messenger.tell(payloads.to_invocation(body).recipient, said)


async def _answer(services: Services, body: dict[str, Any]) -> str:
    """Carries out a button, and returns what to tell the person in a message of its own; empty if nothing."""
    invocation, number = payloads.to_invocation(body), payloads.clicked_case_id(body)
    improvement = await JudgeRequests.from_store(services.store).find(number) if number is not None else None
    if improvement is None or (improvement.team_id, improvement.user_id) != (invocation.team_id, invocation.user_id):
        return words.CLOSED
    if refusal := await services.access.refusal(invocation, "rubrics", improvement.channel_id, is_change=True):
        return refusal
    blocks = (body.get("message") or {}).get("blocks") or []
    pressed = _Press(services, improvement, invocation.trigger_id, blocks)
    return await _DO[payloads.clicked_action(body)](pressed)


def new_name(improvement: JudgeRequest, default: str) -> str:
    """The name of the improved rubric: that of the channel's own rubric, or one derived from the app's."""
    name = improvement.rubric or default
    if improvement.rubric_version is not None:
        return name
    slug = "-".join(re.findall(r"[^\W_]+", name.lower()))
    return f"{slug[: LONGEST_NAME - len(_IMPROVED)].rstrip('-')}{_IMPROVED}"
