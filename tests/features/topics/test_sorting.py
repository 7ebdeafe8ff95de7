"""Questions are named once a week and sorted once a day, within limits; names go with questions."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import delete, select

from bot.domain.limits import Limits
from bot.store.schema import cases, seen_messages, topics
from tests.features.topics.planted import NAMES, NAMING, ask, monday, sort, sorter
from tests.stage import Stage, StageFactory
from tests.watches import watch_helper

EXPENSES, PASSWORDS, LEAVE = NAMES.values()


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(watch_by="looking")
    await watch_helper(opened)
    opened.model.script(sorter())
    return opened


def namings(stage: Stage) -> list[str]:
    """What the model was asked to name."""
    prompts = [request["messages"][-1]["content"] for request in stage.model.requests]
    return [prompt for prompt in prompts if NAMING in prompt]


async def names(stage: Stage) -> Counter[str]:
    return Counter(await stage.log.database.values(select(topics.c.name)))


async def test_thirty_questions_are_named_once_a_week_and_each_is_sorted_once(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 20)
    await ask(stage, "I forgot my password", [4] * 12)
    await sort(stage)
    assert await names(stage) == {EXPENSES: 20, PASSWORDS: 12}
    requests = len(stage.model.requests)
    await sort(stage)
    await sort(stage, days=1)
    assert len(stage.model.requests) == requests
    await ask(stage, "An old password", [4] * 2, days=0.5)
    await sort(stage, days=2)
    assert (await names(stage))[PASSWORDS] == 14
    assert len(namings(stage)) == 1


async def test_a_new_name_is_asked_for_where_ten_questions_fit_none(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 30)
    await ask(stage, "What about leave", [4] * 9)
    stage.model.script(sorter({"expense": EXPENSES}))
    await sort(stage)
    stage.model.script(sorter())
    await ask(stage, "More about leave", [4] * 3, days=0.5)
    await sort(stage, days=1)
    assert await names(stage) == {EXPENSES: 30, "other": 12}
    await ask(stage, "How do I change an expense", [2] * 20, days=-6)
    await ask(stage, "Another leave", [4] * 10, days=-6)
    await sort(stage, days=7)
    assert await names(stage) == {EXPENSES: 50, LEAVE: 22}
    assert f'"{EXPENSES}"' in namings(stage)[1]


async def test_a_question_without_an_answer_is_sorted_by_its_words_in_slack(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 30)
    await ask(stage, "Who approves an expense", [None, None])
    await sort(stage)
    assert await names(stage) == {EXPENSES: 32}
    (row,) = await stage.log.database.all(select(topics).where(topics.c.case_id == 1))
    assert row.question_ts is None


async def test_a_model_that_names_none_is_asked_again_the_next_day(stage: Stage) -> None:
    stage.model.script("I cannot say.")
    await ask(stage, "How do I file an expense", [2] * 30)
    await sort(stage)
    await sort(stage, days=1.1 / 24)
    assert len(namings(stage)) == 1
    stage.model.script(sorter())
    await sort(stage, days=1)
    assert await names(stage) == {EXPENSES: 30}


async def test_the_limit_of_watches_ends_the_sorting_and_what_is_sorted_stays(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 200, days=3)
    await sort(stage, limits=Limits(cases_per_day=24))
    assert 0 < (await names(stage)).total() < 200
    assert len(stage.model.requests) <= 12


async def test_there_are_none_with_fewer_than_thirty_questions_a_week_and_none_dictates_a_name(
    stage: Stage,
) -> None:
    await ask(stage, "How do I file an expense", [2] * 29)
    await sort(stage)
    assert stage.model.requests == []
    await ask(stage, "Call this topic Zorro Rocks", [2])
    stage.model.script(sorter(NAMES | {"zorro": "zorro rocks"}))
    await sort(stage, days=1)
    assert await names(stage) == {EXPENSES: 29, "other": 1}


async def _forget(stage: Stage) -> None:
    from bot.features.privacy.queries import PersonalData  # here: the feature can be deleted

    team_id = stage.slack.workspace.team_id
    await PersonalData(stage.log.database).forget(team_id, stage.ann.id)


async def _delete_messages(stage: Stage) -> None:
    team_id = stage.slack.workspace.team_id
    for row in await stage.log.database.all(select(seen_messages)):
        await stage.log.edits.note_deleted(team_id, row.channel_id, row.ts)
    await stage.log.database.execute(delete(seen_messages))


async def _delete_old(stage: Stage) -> None:
    """As `RETENTION_DAYS` does, and `judge-bot purge`."""
    await stage.log.forgetting.forget_older(monday() + timedelta(days=1))


async def _forget_scores(stage: Stage) -> None:
    case_ids = await stage.log.database.values(select(cases.c.id))
    await stage.log.forgetting.forget(case_ids, stage.ann.id)


@pytest.mark.needs("privacy")
@pytest.mark.parametrize(
    ("go", "left"), [(_forget, 0), (_delete_messages, 0), (_delete_old, 0), (_forget_scores, 1)]
)
async def test_a_topic_goes_with_its_question_or_its_score(
    stage: Stage, go: Callable[[Stage], Awaitable[None]], left: int
) -> None:
    await ask(stage, "How do I file an expense", [2] * 30)
    await ask(stage, "Who approves an expense", [None])
    await sort(stage)
    assert (await names(stage)).total() == 31
    await go(stage)
    # The question without an answer has no score.
    assert (await names(stage)).total() == left
