"""*Details*: the points of a rubric are asked for once, in one more request, and kept with the
case.
"""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from bot.features.score.details import NOT_SAID, details_modal
from bot.slack import ids
from bot.store import Store
from bot.store.schema import spent
from judge import Rating
from pocket_slack import View
from tests.cases import bare_verdict, delivered
from tests.model_server import Decided, Failure
from tests.pipeline.test_verdict_text import a_case
from tests.stage import ANSWER, QUESTION, Stage, StageFactory, shown

CRITERIA = ("relevant", "substantial", "useful", "comprehensive", "expert", "concise")


def points(*met: str) -> str:
    return "\n".join(f"{name}: {'yes' if name in met else 'no'}" for name in CRITERIA)


async def details(stage: Stage, score: int = 4) -> View:
    stage.model.script(f"score: {score}\nIt is fine.")
    verdict = await stage.verdict(stage.ask_for_score())
    stage.ann.click(verdict, ids.ACTION_DETAILS)
    return await stage.modal(stage.ann)


async def ask(stage: Stage, window: View, *answer: Any) -> str:
    """What the window shows after the button is pressed, and the model has given this answer."""
    stage.model.script(*answer)
    await stage.slack.settled(stage.ann.click(window, ids.ACTION_POINTS))
    await stage.slack.until(lambda: "*Points*" in _seen(stage) or NOT_SAID in _seen(stage))
    return _seen(stage)


def _seen(stage: Stage) -> str:
    return shown(stage.ann.view) if stage.ann.view else ""


async def test_points_are_asked_for_once_counted_and_kept(stage: Stage) -> None:
    seen = await ask(stage, await details(stage, 5), points("relevant", "concise"))
    assert "*Points*\nrelevant: *yes*\nsubstantial: *no*\nuseful: *no*" in seen
    assert "These points add up to 1, the score is 5" in seen
    assert len(await stage.log.database.values(select(spent.c.id))) == 1
    stage.ben.click(stage.ours()[-1], ids.ACTION_DETAILS)
    window = shown(await stage.modal(stage.ben))
    assert "relevant: *yes*" in window
    assert "Ask for the points" not in window


async def test_a_double_click_asks_once(stage: Stage) -> None:
    window = await details(stage)
    stage.model.script(points(*CRITERIA))
    asked = len(stage.model.requests)
    for press in [stage.ann.click(window, ids.ACTION_POINTS) for _ in range(2)]:
        await stage.slack.settled(press)
    await stage.slack.until(lambda: "*Points*" in _seen(stage))
    await stage.stop_bot()
    assert len(stage.model.requests) == asked + 1


async def test_points_that_the_model_does_not_say_are_not_asked_for_again_but_a_refused_request_is(
    stage: Stage,
) -> None:
    window = await details(stage)
    stage.ben.click(stage.ours()[-1], ids.ACTION_DETAILS)
    later = await stage.modal(stage.ben)
    assert NOT_SAID in await ask(stage, window, Failure(400))
    assert (await stage.log.cases.verdict(1)).points is None
    stage.ann.close()
    stage.ann.click(stage.ours()[-1], ids.ACTION_DETAILS)
    window = await stage.modal(stage.ann)
    assert "relevant: *not said*" in await ask(stage, window, "I think it is rather good.")
    asked = len(stage.model.requests)
    await stage.slack.settled(stage.ben.click(later, ids.ACTION_POINTS))
    await stage.slack.until(lambda: "*not said*" in shown(later))
    assert len(stage.model.requests) == asked


@pytest.mark.parametrize("settings", [{"store_text": "none"}, {"judge_model": "offline"}])
async def test_there_is_no_button_without_texts_or_a_model(
    open_stage: StageFactory, settings: dict[str, str]
) -> None:
    stage = await open_stage(**settings)
    window = shown(await details(stage))
    assert "Ask for the points" not in window
    assert (QUESTION in window, ANSWER in window) == (("store_text" not in settings),) * 2


async def test_a_reason_that_nobody_needed_yet_is_asked_for(open_stage: StageFactory) -> None:
    stage = await open_stage(judge_ask="decision")
    decided = Decided({str(score): float(score == 4) for score in range(6)})
    stage.model.script(decided, Failure(400))
    verdict = await stage.verdict(stage.ask_for_score())
    stage.ann.click(verdict, ids.ACTION_DETAILS)
    window = await stage.modal(stage.ann)
    assert "Ask for the reason" in shown(window)
    stage.model.script("It says all.")
    await stage.slack.settled(stage.ann.click(window, ids.ACTION_POINTS))
    await stage.slack.until(lambda: "It says all." in _seen(stage))
    kept = await stage.log.cases.verdict(1)
    assert kept.justification == "It says all."


async def test_what_is_asked_for_while_the_words_go_is_not_kept(log: Store) -> None:
    case = await delivered(log)
    verdict = await log.cases.verdict(case.id)
    await log.edits.drop_texts(case)
    await log.cases.note_more(
        case, replace(verdict, points={"useful": 1.0}, justification="It quotes them.")
    )
    kept = await log.cases.verdict(case.id)
    assert (kept.points, kept.justification) == (None, "")


def test_what_is_known_of_a_verdict_is_listed_once() -> None:
    case = a_case(messages=2, messages_before=26, left_out=6)
    alike = Rating(score=4, justification="Fine.", raw="", model="m")
    found = str(details_modal(case, bare_verdict(mean=3.9, ratings=(alike, alike))))
    for part in (
        "*Reply*: 2 messages",
        "*Before the question*: 26 messages, 6 not shown to the judge",
        "*Mean*: 3.90 of 5",
    ):
        assert part in found
    assert found.count("Fine.") == 1
    assert "Mean" not in str(details_modal(case, bare_verdict(mean=4.0)))
