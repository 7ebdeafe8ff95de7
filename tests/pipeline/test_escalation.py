"""A stronger model, set by JUDGE_ESCALATE_TO, in the thread, in the window of details, and in the
store.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from bot.domain.verdict import CaseVerdict
from bot.slack import ids
from tests.model_server import Failure, ModelServer, Reply
from tests.stage import Stage, StageFactory, shown

SMALL = ("score: 5\nVery good.", "score: 1\nBad.", "score: 3\nFair.")
BIG = "score: 2\nIt names the wrong command."


def play(server: ModelServer, big: Reply) -> None:
    small = iter(SMALL)

    def answer(request: Mapping[str, Any]) -> Reply:
        if "n" in request:
            return Failure(400, param="n", message="Unsupported value: 'n'")
        return big if request["model"] == "big" else next(small)

    server.script(answer)


async def judged(open_stage: StageFactory, big: Reply) -> tuple[Stage, str, CaseVerdict]:
    stage: Stage = await open_stage(judge_model="small", judge_samples=3, judge_escalate_to="big")
    play(stage.model, big)
    verdict = await stage.verdict(stage.ask_for_score())
    recorded = await stage.log.cases.verdict(1)
    assert recorded is not None
    stage.ben.click(verdict, ids.ACTION_DETAILS)
    return stage, shown(verdict), recorded


async def test_a_verdict_of_the_stronger_model_says_why_and_both_are_in_the_log(
    open_stage: StageFactory,
) -> None:
    stage, words, recorded = await judged(open_stage, BIG)
    assert "Score 2 of 5" in words
    assert "It names the wrong command." in words
    assert (
        "judged by big, since small's ratings went from 1 to 5 · 2 ratings: 2, 2 · not checked"
        in words
    )
    assert (recorded.model, recorded.escalation, recorded.spread, recorded.skipped_ratings) == (
        "big",
        "small > big",
        0,
        1,
    )
    assert sorted((each.model, getattr(each, "score", None)) for each in recorded.ratings) == [
        *(("big", 2),) * 2,
        *(("small", score) for score in (1, 3, 5)),
    ]
    details = shown(await stage.modal(stage.ben))
    for part in ("*Model*: big", "Rated 2 of 5 by big", "Rated 5 of 5 by small", "Very good."):
        assert part in details


async def test_where_the_stronger_model_is_out_of_reach_the_first_verdict_stands(
    open_stage: StageFactory, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, words, recorded = await judged(open_stage, Failure(404, code="model_not_found"))
    assert "*Unscored*, ratings from 1 to 5. The ratings are too far apart" in words
    assert (
        "big was asked, too, and gave no score; this is small's own verdict · 3 ratings: " in words
    )
    assert (recorded.model, recorded.unscored_reason, len(recorded.ratings)) == (
        "small",
        "split",
        5,
    )
    assert "check JUDGE_ESCALATE_TO" in shown(await stage.modal(stage.ben))
    said = caplog.text + "".join(capsys.readouterr())  # for the operator, who does not read threads
    assert "stronger_model_gave_no_score" in said
    assert "check JUDGE_ESCALATE_TO" in said
