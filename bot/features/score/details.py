"""*Details* under a verdict: its facts and ratings, and its points or a lacking reason, which are
asked for here.
"""

from functools import partial
from typing import Any

import structlog
from cachetools import LRUCache
from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.blocker import NO_TOKENS_LEFT
from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.feature import Services
from bot.pipeline.asking import BudgetError, judge_of, with_more
from bot.pipeline.verdict_text import headline, rated_quote
from bot.slack import blocks, ids
from bot.slack import invocation as payloads
from bot.slack.mrkdwn import escape
from judge import JudgeError
from judge.scoring.beside import MET, lacks_reason, points_total
from judge.scoring.conversation import is_shortened
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

_MOST_SHOWN = 600  # characters of a text that the judge read
NOT_SAID = "The model did not say it."
InVain = LRUCache[int, str]
"""What to say of the cases whose reason the model did not give: it is not paid for again."""

logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    in_vain: InVain = LRUCache(maxsize=5000)

    @app.action(ids.ACTION_DETAILS)
    async def show_details(ack: AsyncAck, body: dict[str, Any]) -> None:
        invocation = payloads.to_invocation(body)
        case = await services.case_access.readable(invocation, invocation.case_id)
        await ack()
        verdict = await services.case_access.verdict(case)
        case = await services.store.cases.with_turns(case)
        await services.store.assignments.note_told(case.team_id, [case.id], invocation.user_id)
        judge = await judge_of(services.judges, case, verdict)
        view = details_modal(case, verdict, in_vain.get(case.id, ""), may_ask=judge is not None)
        await services.messenger.tell(
            invocation.recipient_at(case), await services.messenger.show(invocation, view)
        )

    @payloads.on_click(app, ids.ACTION_POINTS)
    async def show_points(invocation: payloads.Invocation, body: dict[str, Any]) -> None:
        update = partial(services.messenger.update_modal, body["view"]["id"])
        case = await services.case_access.readable(invocation, invocation.case_id)
        verdict = await services.case_access.verdict(case)
        case = await services.store.cases.with_turns(case)
        before = verdict
        note = in_vain.get(case.id, "")
        if not note and (judge := await judge_of(services.judges, case, verdict)):
            if not await update(
                details_modal(case, verdict, "Asking the model…"), body["view"]["hash"]
            ):
                return  # another press is asking, or the window is closed
            note = NOT_SAID
            try:
                verdict = await with_more(services.store, services.limits, judge, case, verdict)
                if verdict == before:
                    in_vain[case.id] = NOT_SAID
            except BudgetError:
                note = NO_TOKENS_LEFT
            except JudgeError as exc:
                logger.warning(
                    "judge_failed", case=case.id, error=type(exc).__name__, reason=str(exc)
                )
        await update(details_modal(case, verdict, note if verdict == before else ""))


def _points(verdict: CaseVerdict) -> list[dict[str, Any]]:
    """A line for each of the rubric's criteria, and whether they add up to the score."""
    said = {None: "not said", True: "yes", False: "no"}
    points = verdict.points or {}
    lines = [
        f"{escape(name)}: *{said[worth if worth is None else worth >= MET]}*"
        for name, worth in points.items()
    ]
    total = points_total(points, Scale(verdict.lowest, verdict.highest)) if points else None
    if total is not None and verdict.score is not None and abs(total - verdict.score) > 1:
        lines.append(
            f"_These points add up to {total}, the score is {verdict.score}: the model "
            "contradicts itself._"
        )
    return [blocks.section("\n".join(["*Points*", *lines]))] if points else []


def details_modal(
    case: LoggedCase, verdict: CaseVerdict, note: str = "", *, may_ask: bool = False
) -> dict[str, Any]:
    """The window with the facts of a verdict, and its points or a button that asks for them; its
    case has its turns.
    """
    read = verdict.input_tokens
    written = verdict.output_tokens
    thinking = (
        f", {verdict.reasoning_tokens:,} of them thinking" if verdict.reasoning_tokens else ""
    )
    facts = {
        "Model": "offline rater" if verdict.is_offline else escape(verdict.model),
        "Rubric": f"{escape(verdict.rubric)} @ {verdict.rubric_version}",
        "Mean": "" if verdict.mean is None else f"{verdict.mean:.2f} of {verdict.highest}",
        "Tokens": ""
        if read is None or written is None
        else f"{read:,} read, {written:,} written{thinking}",
        "Cost": "unknown" if verdict.cost_usd is None else f"${verdict.cost_usd:.4f}",
        "Reply": number_of(case.messages, "message") if case.messages > 1 else "",
        "Before the question": _before_question(case) if case.messages_before else "",
        "Not read": escape(case.unread or ""),
        "Model time": ""
        if verdict.latency_ms is None
        else f"{verdict.latency_ms / 1000:.1f} s in total",
    }
    lines = "\n".join(f"*{name}*: {value}" for name, value in facts.items() if value)
    ratings = [rated_quote(rating, verdict) for rating in verdict.ratings[:20]]
    label = f"Ask for the {'reason' if lacks_reason(verdict) else 'points'}"
    button = [blocks.actions(blocks.button(label, ids.ACTION_POINTS, case.id))] if may_ask else []
    points = [*_points(verdict), *([blocks.context(note)] if note else button)]
    texts = {"Question": case.question, "Reply": case.response}
    was_read = [
        blocks.quote(text, _MOST_SHOWN, blocks.run(title, is_bold=True))
        for title, text in texts.items()
        if text
    ]
    if case.has_lost_texts:
        was_read = [blocks.context(f"The texts were {case.why_lost}.")]
    shown = [blocks.section(headline(verdict)), blocks.section(lines), *points, *ratings, *was_read]
    return blocks.page(f"Case {case.id}", shown)


def _before_question(case: LoggedCase) -> str:
    cut = sum(is_shortened(turn.text) for turn in case.conversation if turn.role)
    parts = [
        number_of(case.messages_before, "message"),
        f"{case.left_out:,} not shown to the judge" if case.left_out else "",
        f"{cut:,} shortened in the middle" if cut else "",
    ]
    return ", ".join(part for part in parts if part)
