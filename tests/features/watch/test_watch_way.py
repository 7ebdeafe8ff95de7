"""How a watch asks the judge, found when it is set, and what a score is said to cost."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from bot.domain.case import CaseStatus
from bot.features.watch.asked_again import AskedAgain, Change
from bot.features.watch.queries import watched
from bot.features.watch.way import Way, Ways
from bot.settings import OFFLINE
from bot.store.figures import BEGINNING, END, Span
from bot.store.schema import cases
from judge import DEFAULT_MODEL
from judge.evaluation.stats import Interval
from judge.scoring.ways import USUAL
from tests.features.watch.test_watch_window import window
from tests.features.watch.watching import say, scored, write_scores
from tests.model_server import Answer, Failure, Script, Stall
from tests.stage import GOOD, Stage
from tests.watches import only

SAID = "The judge is asked for the score alone, and for a reason where it is low or shown."


def in_tokens(score: str) -> Answer:
    """The score with its log probabilities, all on it."""
    tokens = ("score", ":", f" {score}")
    content = [
        {"token": each, "logprob": 0.0, "top_logprobs": [{"token": each, "logprob": 0.0}]}
        for each in tokens
    ]
    usage = {"prompt_tokens": 468, "completion_tokens": 4, "total_tokens": 472}
    return Answer("".join(tokens), logprobs={"content": content}, usage=usage)


def or_text(score: str) -> Script:
    return lambda request: in_tokens(score) if "logprobs" in request else GOOD


@pytest.fixture(autouse=True)
def _chances(stage: Stage) -> None:
    stage.model.apart[USUAL[0]] = or_text("4")
    stage.model.script(or_text("4"))


def asked_with_chances(stage: Stage) -> list[bool]:
    return ["logprobs" in request for request in stage.model.requests]


async def test_a_watch_asks_for_the_score_alone_where_it_has_chances(stage: Stage) -> None:
    assert SAID in await window(stage)
    stage.ann.close()
    assert SAID in await say(stage, "@helper all")
    _, reply, case = await scored(stage)
    verdict = await stage.log.cases.verdict(case.id)
    assert asked_with_chances(stage) == [True]
    assert verdict.judge_version.endswith(", distribution, effort none")
    assert (verdict.score, verdict.justification) == (4, "")
    await stage.score(reply)
    own = await stage.log.cases.verdict((await stage.reaches(case.id + 1, CaseStatus.DELIVERED)).id)
    assert asked_with_chances(stage)[1:] == [False]
    assert "distribution" not in own.judge_version


async def test_a_low_score_of_such_a_watch_has_its_reason(stage: Stage) -> None:
    await say(stage, "@helper all")
    reason = "score: 1\nIt leaves the question open."
    stage.model.script(lambda request: in_tokens("1") if "logprobs" in request else reason)
    *_, case = await scored(stage)
    verdict = await stage.log.cases.verdict(case.id)
    assert (verdict.score, verdict.justification) == (1, "It leaves the question open.")


@pytest.mark.parametrize("trial", [GOOD, Stall()])
async def test_elsewhere_a_watch_asks_as_people_do(stage: Stage, trial: Script) -> None:
    stage.model.apart[USUAL[0]] = trial
    stage.model.script(GOOD)
    assert SAID not in await say(stage, "@helper all")
    await scored(stage)
    assert not any(asked_with_chances(stage))


async def test_a_watch_that_is_there_keeps_its_way_when_it_is_changed(stage: Stage) -> None:
    stage.model.apart[USUAL[0]] = Failure(401)
    await say(stage, "@helper all")
    stage.model.apart[USUAL[0]] = or_text("4")
    await say(stage, "@helper 1 in 2")
    assert (await only(stage)).ask is None


async def test_the_judge_is_asked_again_in_the_way_of_the_watch(stage: Stage) -> None:
    await say(stage, "@helper all")
    watch = await only(stage)
    services = stage.services
    judge = await services.judges.of_channel(watch.team_id, watch.channel_id, watch.ask)
    await write_scores(stage, [(9, 4, 45)], judge.version, question="Why?", response="So.")
    scores = await services.store.tallies.in_order(watched(watch), Span(BEGINNING, END))
    change = Change(scores, scores, Interval(-1, -1.2, -0.8))
    asked = await AskedAgain(services).about(change, 40)
    assert (asked.n, set(asked_with_chances(stage))) == (40, {True})


async def price(stage: Stage, **changes: object) -> Way:
    """The way of a new watch, as if the model were at OpenAI's."""
    settings = stage.services.settings.model_copy(update={"openai_base_url": None, **changes})
    # Without what other features ask beside scores.
    services = replace(stage.services, settings=settings, features=())
    return await Ways(services).find(stage.slack.workspace.team_id, "C1")


async def test_the_price_is_that_of_a_try_and_later_of_the_last_scores(stage: Stage) -> None:
    way = await price(stage)
    # 468 tokens at $0.1, 4 at $0.5 a million
    assert way == Way(DEFAULT_MODEL, "distribution", pytest.approx(0.0000488, rel=0.01))
    await say(stage, "@helper all")
    await scored(stage)
    await stage.log.database.execute(update(cases).values(cost_usd=0.0007))
    assert (await price(stage)).usd == pytest.approx(0.0007)


async def test_without_a_try_the_docs_price_leaves_out_thinking_which_a_try_has(
    stage: Stage,
) -> None:
    stage.model.apart[USUAL[0]] = Failure(401)
    guess = await price(stage)
    usd = pytest.approx(0.00018, abs=0.000005)
    assert guess == Way(DEFAULT_MODEL, None, usd, is_guess=True)
    assert (await price(stage, judge_model=OFFLINE)).usd == 0
    usage = {"prompt_tokens": 468, "completion_tokens": 1800, "total_tokens": 2268}
    stage.model.apart[USUAL[0]] = Answer(GOOD, usage=usage)
    assert (await price(stage)).usd > 4 * guess.usd
    services = stage.services
    way = await Ways(services).find(stage.slack.workspace.team_id, "C1")
    assert way == Way(DEFAULT_MODEL)  # of another server
