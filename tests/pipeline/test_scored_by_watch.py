"""A reply that a watch has scored silently is not paid for again when a person asks for its score."""

from typing import Any

from bot.domain.case import CaseSource, CaseStatus, LoggedCase, QuestionSource
from bot.domain.watch import Shows
from bot.slack import ids
from pocket_slack import Message
from tests.cases import a_case, newest
from tests.gestures import help_desk
from tests.stage import ANSWER, QUESTION, Stage, shown

SAID = "score: 2\nIt leaves out --hard."


async def drawn(
    stage: Stage, said: str = SAID, **changes: Any
) -> tuple[Message, Message, LoggedCase]:
    """A question and its answer, which a watch has scored; nothing of it is shown."""
    parent, answer = stage.ask_and_answer()
    its = {
        "key": f"watch:{answer.ts}",
        "team_id": stage.workspace.team_id,
        "channel_id": help_desk(stage).id,
        "requester_id": "U0BOT",
        "source": CaseSource.WATCH,
        "message_ts": answer.ts,
        "parent_ts": parent.ts,
        "author_id": stage.helper.id,
        "question": QUESTION,
        "question_source": QuestionSource.PREVIOUS,
        "question_ts": parent.ts,
        "question_author_id": stage.ann.id,
        "response": ANSWER,
        "probability": 1.0,
        "shows": Shows.NOTHING,
    }
    case = a_case(**(its | changes))
    stage.model.script(said)
    added, _ = await stage.log.add(case)
    return parent, answer, await stage.reaches(added.id, CaseStatus.DELIVERED)


async def test_the_verdict_that_is_there_is_shown_as_asked_for_and_costs_nothing_and_another_does(
    stage: Stage,
) -> None:
    parent, answer, before = await drawn(stage)
    asked = len(stage.model.requests)
    await stage.score(answer)
    verdict = await stage.verdict(parent)
    assert "It leaves out --hard." in shown(verdict)
    assert len(stage.model.requests) == asked
    chosen = await stage.log.cases.get(2)
    paid = await stage.log.cases.verdict(2)
    assert (chosen.score, chosen.probability, chosen.excluded) == (2, None, None)
    assert (paid.input_tokens, paid.output_tokens, paid.cost_usd) == (0, 0, 0.0)
    assert await stage.log.cases.get(1) == before
    await stage.score(answer)
    stage.ann.click(await stage.told(stage.ann), ids.ACTION_AGAIN)
    await stage.verdict(parent, 2)
    assert len(stage.model.requests) == asked + 1


async def test_a_verdict_that_the_channel_sees_is_not_posted_a_second_time(stage: Stage) -> None:
    parent, answer, _ = await drawn(stage, shows=Shows.VERDICT)
    await stage.score(answer)
    assert "Scored before: *2 of 5*" in (await stage.told(stage.ann)).text
    await stage.verdict(parent)
    assert await stage.cases() == 1


async def test_what_the_judge_has_not_scored_is_scored(stage: Stage) -> None:
    for which, changes in {
        "other words": {},
        "another judge": {"rubric": "code"},
        "an earlier question": {"question": "How?"},
        "no score, which the channel sees": {"said": "I cannot say.", "shows": Shows.VERDICT},
    }.items():
        parent, answer, _ = await drawn(stage, **changes)
        if which == "other words":
            stage.helper.edit(answer, "Run git reset --hard HEAD~1.")
        stage.model.script("score: 3\nIt is fine.")
        asked = len(stage.model.requests)
        await stage.score(answer)
        (case, *_) = await newest(stage.log, 1)
        case = await stage.reaches(case.id, CaseStatus.DELIVERED)
        assert (which, case.score, case.parent_ts) == (which, 3, parent.ts)
        assert len(stage.model.requests) == asked + 1
