"""`/judge rubric improve`, and the buttons of an improvement's message and of a comparison."""

import re
from dataclasses import dataclass
from statistics import fmean

from slack_bolt.async_app import AsyncApp

from bot.domain.clock import utc_now
from bot.feature import Services
from bot.features.rubrics import ids
from bot.features.rubrics import improvement_text as words
from bot.features.rubrics.comparison import BUDGET, use
from bot.features.rubrics.queries import JudgeRequest, JudgeRequests
from bot.features.rubrics.text import LEFT, LONGEST_NAME, TOO_MANY
from bot.slack.blocks import Block, short_date
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.messenger import Post, Posted, sentence
from bot.store.examples import Aim, Progress
from bot.store.rubrics import ChannelJudge, SavedBeforeError, SavedRubric, TooManyRubricsError
from judge import Rubric
from judge.evaluation.align import LEAST_FOR_PROMPTS
from judge.evaluation.align.cases import threads_of

_IMPROVED = "-improved"


async def begin(services: Services, team_id: str, channel_id: str, user_id: str) -> str:
    """Begins an improvement unless one is running; returns that it has begun, or why it cannot."""
    place, log = (team_id, channel_id), JudgeRequests(services.store.database)
    chosen, rubric = await services.rubrics.log.chosen(*place), await services.rubrics.of(*place)
    settings = services.settings
    model = chosen.model if chosen.model in settings.judge_models else settings.judge_model
    cases = [each.case for each in await log.labelled(*place, rubric.scale)]
    if why := words.obstacle(model or "", cases):
        return why
    last = await log.begin(Aim.IMPROVE, *place, user_id, chosen)
    if last and last.status == Progress.RUNNING:
        return words.RUNNING.format(user=last.user_id, at=short_date(last.asked_at))
    threads = len(threads_of(cases))
    # With fewer threads, only a calibration is learnt, which needs one score of each case.
    requests = BUDGET.requests if threads >= LEAST_FOR_PROMPTS else min(len(cases), BUDGET.requests)
    tokens = requests * fmean(
        services.limits.expected_tokens(each.question, each.response) for each in cases
    )
    tokens = round(min(tokens, BUDGET.tokens), -3)
    return words.BEGUN.format(
        cases=len(cases), threads=threads, requests=requests, tokens=f"{tokens:,.0f}"
    )


@dataclass(frozen=True)
class _Press:
    """A button of a message with these `blocks`, pressed by who asked for it and may still change
    the rubrics.
    """

    services: Services
    log: JudgeRequests
    request: JudgeRequest
    invocation: Invocation
    blocks: list[Block]

    async def show(self, post: Post) -> None:
        message = Posted(self.request.message_channel or "", self.request.message_ts or "")
        await self.services.messenger.update(message, post)

    async def decide(self, said: str, *, goes_back: bool = False) -> str:
        """Shows the decision below the figures, and returns an empty answer, because that says it
        all.
        """
        await self.show(words.decided(self.blocks, said, self.request.id if goes_back else None))
        return ""

    async def decide_compared(self, said: str) -> str:
        """Shows the decision in place of the comparison; if it was pressed twice, another press has
        shown it.
        """
        if said:
            await self.services.messenger.replace(self.invocation.recipient, said)
        return ""

    async def use_compared(self) -> str:
        request, decides = self.request, self.log.decision(self.request.id)
        said = await use(self.services, *request.place, request.user_id, request.judge, decides)
        return await self.decide_compared(said)

    async def leave_compared(self) -> str:
        return await self.decide_compared(LEFT if await self.log.drop(self.request.id) else "")

    async def stop(self) -> str:
        if not await self.log.stop(self.request.id):
            return words.CLOSED
        await self.show(sentence(words.STOPPED.format(channel=self.request.channel_id)))
        return ""

    async def leave(self, said: str = words.LEFT) -> str:
        return await self.decide(said) if await self.log.leave(self.request.id) else words.CLOSED

    async def use(self) -> str:
        """Saves the new text as a version of the channel's own rubric, and switches the channel to
        it.
        """
        request, log = self.request, self.services.rubrics.log
        if request.prompt is None:
            return words.CLOSED
        if await log.chosen(*request.place) != request.judge:
            return await self.leave(words.CHANGED_MEANWHILE)
        name = new_name(request, self.services.rubrics.default)
        last = await log.find(*request.place, name)
        try:
            if last and last.saved_at > request.asked_at:
                raise SavedBeforeError
            number = last.number + 1 if last else 1
            new = SavedRubric(
                *request.place, name, number, request.prompt, request.user_id, utc_now()
            )
            judge = ChannelJudge(name, new.rubric.version, request.judge_model)
            decides = self.log.use(request.id)
            said = await use(self.services, *request.place, request.user_id, judge, decides, new)
        except SavedBeforeError:
            return await self.leave(words.SAVED_MEANWHILE.format(name=name))
        except TooManyRubricsError:
            return TOO_MANY
        return await self.decide(said, goes_back=True) if said else words.CLOSED

    async def go_back(self) -> str:
        request, rubrics = self.request, self.services.rubrics
        # Compare the name, because the version changes if one of the rubric's examples is
        # forgotten.
        if (await rubrics.log.chosen(*request.place)).rubric != new_name(request, rubrics.default):
            return words.CHOSEN_SINCE if await self.log.find(request.id) else words.CLOSED
        decides = self.log.go_back(request.id)
        said = await use(self.services, *request.place, request.user_id, request.judge, decides)
        return await self.decide(said) if said else words.CLOSED

    async def view(self) -> str:
        request, rubrics = self.request, self.services.rubrics
        name = request.rubric or rubrics.default
        before = await rubrics.find(*request.place, name, request.rubric_version)
        if before is None or request.prompt is None:
            return words.CLOSED
        view = words.view_modal(before, Rubric(name, request.prompt))
        return await self.services.messenger.show(self.invocation, view)


_DO = {
    ids.ACTION_RUBRIC_USE: _Press.use_compared,
    ids.ACTION_RUBRIC_LEAVE: _Press.leave_compared,
    ids.ACTION_IMPROVE_STOP: _Press.stop,
    ids.ACTION_IMPROVE_USE: _Press.use,
    ids.ACTION_IMPROVE_LEAVE: _Press.leave,
    ids.ACTION_IMPROVE_BACK: _Press.go_back,
    ids.ACTION_IMPROVE_VIEW: _Press.view,
}


def register(app: AsyncApp, services: Services) -> None:
    log = JudgeRequests(services.store.database)

    @on_click(app, *_DO)
    async def press(invocation: Invocation, body: Raw) -> None:
        request = await log.find(invocation.case_id or 0)
        if request is None or (request.team_id, request.user_id) != (
            invocation.team_id,
            invocation.user_id,
        ):
            said = words.CLOSED
        elif not (
            said := await services.access.refusal(
                invocation, "rubrics", request.channel_id, is_change=True
            )
        ):
            blocks = (body.get("message") or {}).get("blocks") or []
            said = await _DO[invocation.action](_Press(services, log, request, invocation, blocks))
        # Beside the message: a late second press must not hide what the first one has decided.
        await services.messenger.tell(invocation.recipient, said)


def new_name(request: JudgeRequest, default: str) -> str:
    """The name of the improved rubric: that of the channel's own rubric, or one derived from the
    app's.
    """
    name = request.rubric or default
    if request.rubric_version is not None:
        return name
    slug = "-".join(re.findall(r"[^\W_]+", name.lower()))
    return f"{slug[: LONGEST_NAME - len(_IMPROVED)].rstrip('-')}{_IMPROVED}"
