"""Watched replies that a decision model scores: no text is asked for where nobody reads it."""

import pytest

from bot.slack.manifest import MESSAGE_EVENTS, load_manifest
from tests.features.watch.watching import only, say, scored
from tests.model_server import Decided
from tests.stage import Stage, StageFactory


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(
        manifest=load_manifest(parts=[MESSAGE_EVENTS]), watch_by="events", judge_ask="decision"
    )
    return opened


def decided(score: int) -> Decided:
    return Decided({str(level): float(level == score) for level in range(6)})


async def test_a_new_watch_scores_all_replies(stage: Stage) -> None:
    assert "all of its replies to people. Scores" in await say(stage, "@helper all alert off")
    assert (await only(stage)).per_day == 0


async def test_a_reason_is_asked_for_where_a_watched_score_is_low(stage: Stage) -> None:
    await say(stage, "@helper all alert off")
    low = []
    for number, score in enumerate((3, 2), 1):
        stage.model.script(decided(score), "It does not answer the question.")
        _, _, case = await scored(stage, number)
        verdict = await stage.log.cases.verdict(case.id)
        assert verdict
        low.append(verdict.justification)
    assert low == ["", "It does not answer the question."]
    assert ["questions" in request for request in stage.model.requests] == [True, True, False]
