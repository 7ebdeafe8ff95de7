"""*Details* under a verdict: its facts and ratings, and its points or a lacking reason, which are
asked for here.
"""

from collections.abc import Mapping
from functools import partial

import structlog
from slack_bolt.async_app import AsyncApp

from bot.domain.case import LoggedCase
from bot.domain.verdict import CaseVerdict
from bot.pipeline.asking import BudgetError, judge_of, with_more
from bot.pipeline.verdict_text import headline, rated_quote
from bot.services import Services
from bot.slack import blocks, ids
from bot.slack.invocation import Invocation, Raw, on_click
from bot.slack.mrkdwn import escape
from judge import Judge, JudgeError
from judge.scoring.beside import MET, lacks_reason, points_total
from judge.scoring.numbers import number_of
from judge.scoring.rubric import Scale

_MOST_SHOWN = 600  # characters of a text that the judge read
NOT_SAID = "The model did not say it."
_OVER_LIMIT = "This workspace has used up its scores for the last 24 hours. Please try again later."
logger = structlog.get_logger(__name__)


def register(app: AsyncApp, services: Services) -> None:
    on_click(app, ids.ACTION_DETAILS)(partial(_show_details, services))
    on_click(app, ids.ACTION_POINTS)(partial(_show_points, services))


async def _show_details(services: Services, person: Invocation, _: Raw) -> None:
    case, verdict, judge = await _read(services, person)
    await services.store.assignments.note_told(case.team_id, [case.id], person.user_id)
    view = details_modal(case, verdict, may_ask=judge is not None)
    refusal = await services.messenger.show(person, view)
    await services.messenger.tell(person.recipient_at(case), refusal)


async def _show_points(services: Services, person: Invocation, body: Raw) -> None:
    update = partial(services.messenger.update_modal, body["view"]["id"])
    case, verdict, judge = await _read(services, person)
    if judge is None:
        await update(details_modal(case, verdict))
        return
    asking = details_modal(case, verdict, "Asking the model…")
    if not await update(asking, body["view"]["hash"]):
        return  # another press is asking, or the window is closed
    note = NOT_SAID
    try:
        more = await with_more(services.store, services.limits, judge, case, verdict)
    except BudgetError:
        note = _OVER_LIMIT
    except JudgeError as exc:
        error = type(exc).__name__
        logger.warning("judge_failed", case=case.id, error=error, reason=str(exc))
    else:
        if more != verdict:
            await update(details_modal(case, more))
            return
    await update(details_modal(case, verdict, note))


async def _read(
    services: Services, person: Invocation
) -> tuple[LoggedCase, CaseVerdict, Judge | None]:
    """The case of a click with its turns, its verdict, and the judge that can say more of it."""
    case = await services.case_access.readable(person, person.case_id)
    verdict = await services.case_access.verdict(case)
    case = await services.store.cases.with_turns(case)
    return case, verdict, await judge_of(services.judges, case, verdict)


def details_modal(
    case: LoggedCase, verdict: CaseVerdict, note: str = "", *, may_ask: bool = False
) -> blocks.Block:
    """The window with the facts of a verdict, and its points or a button that asks for them; its
    case has its turns.
    """
    facts = [f"*{name}*: {value}" for name, value in _facts(case, verdict).items() if value]
    shown = [blocks.section(headline(verdict)), blocks.section("\n".join(facts))]
    if verdict.points:
        shown.append(_points(verdict, verdict.points))
    if note:
        shown.append(blocks.context(note))
    elif may_ask:
        label = f"Ask for the {'reason' if lacks_reason(verdict) else 'points'}"
        shown.append(blocks.actions(blocks.button(label, ids.ACTION_POINTS, case.id)))
    for rating in verdict.ratings[:20]:
        quote = rated_quote(rating, verdict)
        if quote not in shown:
            shown.append(quote)
    return blocks.page(f"Case {case.id}", shown + _texts(case))


def _texts(case: LoggedCase) -> list[blocks.Block]:
    """What was judged, or why it is no longer there."""
    shown = []
    for title, text in (("Question", case.question), ("Reply", case.response)):
        if text:
            shown.append(blocks.quote(text, _MOST_SHOWN, blocks.run(title, is_bold=True)))
    if case.has_lost_texts:
        shown.append(blocks.context(f"The texts were {case.why_lost}."))
    return shown


def _facts(case: LoggedCase, verdict: CaseVerdict) -> dict[str, str]:
    """What is known of a verdict, by name; empty where nothing is."""
    facts = {
        "Model": "offline rater" if verdict.is_offline else escape(verdict.model),
        "Rubric": escape(verdict.rubric),
        "Not read": escape(case.unread or ""),
    }
    if verdict.mean is not None and verdict.mean != verdict.score:
        facts["Mean"] = f"{verdict.mean:.2f} of {verdict.highest}"
    if verdict.cost_usd is not None:
        facts["Cost"] = f"${verdict.cost_usd:.4f}"
    if case.messages > 1:
        facts["Reply"] = number_of(case.messages, "message")
    if case.messages_before:
        before = number_of(case.messages_before, "message")
        left_out = f", {case.left_out:,} not shown to the judge" if case.left_out else ""
        facts["Before the question"] = f"{before}{left_out}"
    return facts


def _points(verdict: CaseVerdict, points: Mapping[str, float | None]) -> blocks.Block:
    """A line for each of the rubric's criteria, and whether they add up to the score."""
    lines = ["*Points*"]
    for name, worth in points.items():
        answer = "not said"
        if worth is not None:
            answer = "yes" if worth >= MET else "no"
        lines.append(f"{escape(name)}: *{answer}*")
    total = points_total(points, Scale(verdict.lowest, verdict.highest))
    if total is not None and verdict.score is not None and abs(total - verdict.score) > 1:
        lines.append(
            f"_These points add up to {total}, the score is {verdict.score}: the model "
            "contradicts itself._"
        )
    return blocks.section("\n".join(lines))
