"""What JUDGE_ASK and JUDGE_EFFORT change in the thread, in the store and in the log."""

import pytest
from structlog.testing import capture_logs

from tests.model_server import Decided, Failure
from tests.stage import GOOD, StageFactory, shown

LEVELS = {str(score): chance for score, chance in enumerate((0.3, 0.1, 0.0, 0.0, 0.4, 0.2))}


async def test_a_decision_is_shown_with_a_reason_and_kept(open_stage: StageFactory) -> None:
    stage = await open_stage(judge_ask="decision")
    stage.model.script(Decided(LEVELS, {"relevant": 0.9}), "It is relevant.")
    verdict = await stage.verdict(stage.ask_for_score())
    recorded = await stage.log.cases.verdict(1)
    assert "It is relevant." in shown(verdict)
    assert recorded.input_tokens == 700 + 400
    [rating] = recorded.ratings
    assert (recorded.spread, rating.probabilities[0], rating.points["relevant"]) == (
        5,
        pytest.approx(0.3),
        0.9,
    )
    assert ", decision " in (recorded.judge_version or "")


async def test_a_refused_effort_is_logged_once(open_stage: StageFactory) -> None:
    stage = await open_stage(judge_effort="low", judge_samples=1)
    refused = Failure(400, message="Unsupported parameter: 'reasoning_effort'")
    stage.model.script(lambda request: refused if "reasoning_effort" in request else GOOD)
    with capture_logs() as logs:
        for _ in range(2):
            await stage.verdict(stage.ask_for_score())
    said = [entry["reason"] for entry in logs if entry["event"] == "server_differs"]
    assert ["refuses JUDGE_EFFORT" in reason for reason in said] == [True]
