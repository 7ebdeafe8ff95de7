"""`/judge topics`, what to write, and the line of a digest, in a pocket Slack."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.standing import subject_of
from bot.features.topics import ids, text
from bot.features.topics.figures import TopicFigures
from bot.slack import ids as slack_ids
from bot.slack.manifest import load_manifest
from bot.store.schema import assignments, cases, topics, watches
from pocket_slack import Message
from tests.features.topics.planted import NAMES, ask, monday, sort, sorter
from tests.features.watch.watching import only, say
from tests.gestures import stats
from tests.stage import CHANNEL, Stage, StageFactory, shown

EXPENSES, PASSWORDS, _ = NAMES.values()


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(manifest=load_manifest(parts=["files"]), watch_by="looking")
    await say(opened, "@helper all alert off")
    opened.model.script(sorter())
    assert opened.services
    opened.services.clock = monday
    return opened


async def told(stage: Stage, typed: str, number: int) -> Message:
    stage.ann.command(CHANNEL, slack_ids.COMMAND, typed)
    return await stage.told(stage.ann, number)


async def pressed(stage: Stage, message: Message, action: str, number: int) -> Message:
    stage.ann.click(message, action)
    return await stage.told(stage.ann, number)


async def test_topics_have_counts_that_sql_recounts(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2, 3] * 10)
    await ask(stage, "I forgot my password", [4] * 12)
    await ask(stage, "Which expense is paid", [None])
    await sort(stage)
    said = shown(await told(stage, "topics @helper", 2))
    query = select(topics.c.name, cases.c.score).outerjoin(cases, topics.c.case_id == cases.c.id)
    rows = await stage.log.database.all(query)
    for name in (EXPENSES, PASSWORDS):
        number = len([row for row in rows if row.name == name])
        given = [row.score for row in rows if row.name == name and row.score is not None]
        assert f"*{name}*: {number} questions · *{sum(given) / len(given):.1f}*" in said
    assert "1 without an answer (5%)" in said
    assert shown(await told(stage, "topics", 3)) == said


async def test_it_is_said_why_there_are_no_topics(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 12)
    assert text.too_few(12) in shown(await told(stage, "topics @helper", 2))
    await ask(stage, "I forgot my password", [2] * 18)
    assert text.NOT_YET in shown(await told(stage, "topics @helper", 3))
    assert stage.services
    settings = stage.services.settings
    stage.services.settings = settings.model_copy(update={"store_text": "none"})
    assert text.NO_TEXTS in shown(await told(stage, "topics @helper", 4))
    assert "Watched in your channels: `@helper`" in shown(await told(stage, "topics @nobody", 5))


@pytest.mark.needs("outcome")
async def test_what_to_write_has_bad_questions_in_the_same_words_together_with_links(
    stage: Stage,
) -> None:
    await ask(stage, "How do I hand over an expense?", [1] * 8 + [5], is_same=True)
    await ask(stage, "I forgot my password", [4] * 30)
    await ask(stage, "Who approves an expense", [None])
    await sort(stage)
    table = await told(stage, "topics @helper", 2)
    listed = shown(await pressed(stage, table, ids.ACTION_WRITE, 3))
    assert f"*{EXPENSES}*: asked 10 times, answered well once" in listed
    assert "asked 9 times, answered well once: “How do I hand over an expense?” <http" in listed
    assert "• “Who approves an expense 0?” <http" in listed
    assert "|unanswered>" in listed
    assert PASSWORDS not in listed
    known_to = await stage.log.database.values(select(assignments.c.user_id).distinct())
    assert known_to == [stage.ann.id]


@pytest.mark.needs("digest", "outcome")
async def test_what_to_write_comes_as_a_file_that_goes_with_its_questions(stage: Stage) -> None:
    await ask(stage, "How do I hand over an expense?", [1] * 30, is_same=True)
    await sort(stage)
    table = await told(stage, "topics @helper", 2)
    listed = await pressed(stage, table, ids.ACTION_WRITE, 3)
    assert "in your direct messages" in (await pressed(stage, listed, ids.ACTION_FILE, 4)).text
    (file,) = stage.slack.workspace.files.values()
    row = json.loads(file.content)
    assert (row["topic"], row["asked"], row["answered_well"]) == (EXPENSES, 30, 0)
    assert row["question"] == "How do I hand over an expense?"
    assert (row["low_score"], row["unanswered"], len(row["links"])) == (30, 0, 30)
    case = await stage.log.cases.get(1)
    assert case
    assert case.message_ts
    await stage.log.edits.note_deleted(case.team_id, case.channel_id, case.message_ts)
    await stage.slack.until(lambda: file.is_deleted)


async def test_a_person_outside_the_channels_sees_nothing_by_a_button(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 30)
    await sort(stage)
    table = await told(stage, "topics @helper", 2)
    stage.ann.leave(CHANNEL)
    assert stage.services
    stage.services.memberships._channels.forget(stage.ann.id)
    said = await pressed(stage, table, ids.ACTION_WRITE, 3)
    assert said.text.startswith("Slack does not list this channel")


@pytest.mark.needs("digest")
async def test_stats_have_a_line_with_a_button(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 31)
    await ask(stage, "I forgot my password", [4] * 20)
    await sort(stage)
    said = await stats(stage, "@helper", 2)
    assert f"*{EXPENSES}* 31 questions, *2.0*; all others 4.0." in shown(said)
    table = shown(await pressed(stage, said, ids.ACTION_TOPICS, 3))
    assert f"*{PASSWORDS}*: 20 questions" in table


async def test_a_private_channels_topics_stay_in_it(stage: Stage) -> None:
    await ask(stage, "How do I file an expense", [2] * 30)
    await sort(stage)
    await stage.log.database.execute(update(watches).values(is_private=True))
    private = subject_of(await only(stage))
    figures = TopicFigures(stage.services_at(timedelta()))
    assert (await figures.of(private)).topics
    assert not (await figures.of(private._replace(channel_id=""))).topics
