"""`/judge topics`, what to write, and the line of a digest, in a pocket Slack."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.standing import Standing, subject_of
from bot.features.topics import ids, text
from bot.features.topics.figures import TopicFigures
from bot.pipeline.text import none_watched
from bot.slack import ids as slack_ids
from bot.slack.manifest import load_manifest
from bot.store.schema import assignments, cases, watches
from bot.store.standings import Standings
from judge.evaluation.standing import Direction
from pocket_slack import Message
from tests.features.topics.planted import NAMES, ask, monday, sort, sorter
from tests.gestures import home, stats
from tests.stage import CHANNEL, Stage, StageFactory, shown
from tests.texts import read
from tests.watches import only, watch_helper

EXPENSES, PASSWORDS, _ = NAMES.values()


@pytest.fixture
async def stage(open_stage: StageFactory) -> Stage:
    opened: Stage = await open_stage(manifest=load_manifest(parts=["files"]), watch_by="looking")
    await watch_helper(opened)
    opened.model.script(sorter())
    opened.services.clock = monday
    return opened


async def told(stage: Stage, typed: str, number: int) -> Message:
    stage.ann.command(CHANNEL, slack_ids.COMMAND, typed)
    return await stage.told(stage.ann, number)


async def pressed(stage: Stage, message: Message, action: str, number: int) -> Message:
    stage.ann.click(message, action)
    return await stage.told(stage.ann, number)


@pytest.mark.needs("digest")
async def test_topics_have_counts_and_stay_in_a_private_channel(
    stage: Stage,
) -> None:
    await ask(stage, "How do I file an expense", [2, 3] * 10)
    await ask(stage, "I forgot my password", [4] * 12)
    await ask(stage, "Which expense is paid", [None])
    await sort(stage)
    said = shown(await told(stage, "topics @helper", 1))
    assert f"*{EXPENSES}*: 21 questions · mean *2.5*, between" in said
    assert f"*{PASSWORDS}*: 12 questions · mean *4.0*, between" in said
    assert "1 not answered within a day (5%)" in said
    assert shown(await told(stage, "topics", 2)) == said
    line = await stats(stage, "@helper", 3)
    assert f"most often *{EXPENSES}* (21 questions)" in shown(line)
    everywhere = shown(await pressed(stage, line, ids.ACTION_TOPICS, 4))
    assert everywhere.splitlines()[1:] == said.splitlines()[1:]
    await stage.log.database.execute(update(watches).values(is_private=True))
    private = subject_of(await only(stage))
    figures = TopicFigures(stage.services_at(timedelta()))
    assert (await figures.of(private)).topics
    assert not (await figures.of(private._replace(channel_id=""))).topics


async def test_without_topics_it_is_said_when_there_are_some_and_what_to_write(
    stage: Stage,
) -> None:
    await ask(stage, "How do I file an expense", [2] * 12)
    none_yet = await told(stage, "topics @helper", 1)
    assert text.NONE_YET in shown(none_yet)
    listed = shown(await pressed(stage, none_yet, ids.ACTION_WRITE, 2))
    assert "*Other questions*: asked 12 times, answered well never" in listed
    said = (await told(stage, "topics @helper last week", 3)).text
    assert said == none_watched("topics", "@helper last week", ["helper"])


@pytest.mark.needs("outcome")
async def test_what_to_write_has_bad_questions_in_the_same_words_together_with_links(
    stage: Stage,
) -> None:
    await ask(stage, "How do I hand over an expense?", [1] * 8 + [5], is_same=True)
    await ask(stage, "How do I file an expense", [4] * 3)
    await ask(stage, "I forgot my password", [4] * 30)
    await ask(stage, "Who approves an expense", [None])
    await sort(stage)
    table = await told(stage, "topics @helper", 1)
    assert f"*{EXPENSES}*: 13 questions" in shown(table)
    listed = shown(await pressed(stage, table, ids.ACTION_WRITE, 2))
    assert f"*{EXPENSES}*: asked 13 times, answered well 4 times" in listed
    assert "asked 9 times, answered well once: “How do I hand over an expense?” <http" in listed
    assert "• “Who approves an expense 0?” <http" in listed
    assert "|unanswered>" in listed
    assert PASSWORDS not in listed
    known_to = await stage.log.database.values(select(assignments.c.user_id).distinct())
    assert known_to == [stage.ann.id]
    # A person outside the channel sees nothing by the button.
    stage.ann.leave(CHANNEL)
    stage.services.memberships._channels.forget(stage.ann.id)
    said = await pressed(stage, table, ids.ACTION_WRITE, 3)
    assert said.text.startswith("Slack does not list this channel")


@pytest.mark.needs("digest", "outcome")
async def test_what_to_write_comes_as_a_file_that_goes_with_its_questions(stage: Stage) -> None:
    await ask(stage, "How do I hand over an expense?", [1] * 20, is_same=True)
    none_yet = await told(stage, "topics @helper", 1)
    listed = await pressed(stage, none_yet, ids.ACTION_WRITE, 2)
    assert "in your direct messages" in (await pressed(stage, listed, ids.ACTION_FILE, 3)).text
    (file,) = stage.slack.workspace.files.values()
    row = json.loads(file.content)
    assert (row["topic"], row["asked"], row["answered_well"]) == ("other", 20, 0)
    assert row["question"] == "How do I hand over an expense?"
    assert (row["low_score"], row["unanswered"], len(row["links"])) == (20, 0, 20)
    case = await stage.log.cases.get(1)
    await stage.log.edits.note_deleted(case.team_id, case.channel_id, case.message_ts)
    await stage.slack.until(lambda: file.is_deleted)


Scores = tuple[Sequence[int], Sequence[int]]
"""Those of two topics."""


async def planted_change(stage: Stage, before: Scores, now: Scores) -> Standing:
    """Every other day for three weeks these scores, then two days with others, which are lower."""
    from bot.features.watch.standings import StandingLooks  # here: the feature can be deleted

    planted = [(day, before) for day in range(3, 24, 2)]
    for day, (expenses, passwords) in [*planted, (1.5, now)]:
        await ask(stage, f"How do I file an expense, day {day}", expenses, days=day)
        await ask(stage, f"I forgot my password, day {day}", passwords, days=day)
    await sort(stage)
    later = monday() - datetime.now(UTC) + timedelta(hours=1)
    await StandingLooks(stage.services_at(later)).look()
    found = await Standings(stage.log.database).of(subject_of(await only(stage)))
    assert found.direction is Direction.LOWER
    return found


@pytest.mark.needs("home", "digest", "watch")
async def test_a_drop_in_one_topic_is_said_in_the_alert_on_home_and_in_the_digest(
    stage: Stage,
) -> None:
    await stage.log.database.execute(update(watches).values(alerts_to=[stage.ann.id]))
    usual = [4, 5, 4] * 2
    await planted_change(stage, (usual, usual), ([0, 1] * 15, [4, 5, 4] * 10))
    only_in = f"Only in *{EXPENSES}*: 0.5, was 4.3."
    alerts = stage.slack.workspace.channel(stage.ann.im).messages.values()
    (alert,) = [message for message in alerts if "lower" in message.text]
    assert only_in in shown(alert)
    shown_at_home = str(read((await home(stage)).body["blocks"]))
    assert f"only in *{EXPENSES}*" in shown_at_home
    said = await stats(stage, "@helper", len(stage.ann.ephemerals(CHANNEL)) + 1)
    assert f"in four weeks: {only_in}" in shown(said)
    # The name goes from the posted alert with the last of its questions.
    expenses = cases.c.question.contains("expense")
    for row in await stage.log.database.all(select(cases).where(expenses)):
        await stage.log.edits.note_deleted(row.team_id, row.channel_id, row.question_ts)
    await stage.slack.until(lambda: EXPENSES not in shown(alert))


@pytest.mark.needs("watch")
async def test_a_drop_that_another_mix_explains_is_not_blamed_on_the_assistant(
    stage: Stage,
) -> None:
    from bot.features.watch.questions import MIX_MOVED

    before = ([1, 1], [4, 5, 4, 5, 5] * 2)
    found = await planted_change(stage, before, ([1] * 40, [4, 5] * 3))
    assert found.questions == MIX_MOVED
    assert EXPENSES not in str(found)


@pytest.mark.needs("watch")
async def test_the_price_of_a_watch_has_the_sorting_in_it(stage: Stage) -> None:
    from bot.features.watch.way import Ways

    settings = stage.services.settings.model_copy(update={"openai_base_url": None})
    services = replace(stage.services, settings=settings)
    team_id = stage.slack.workspace.team_id
    with_topics = await Ways(services).find(team_id, "C1")
    services.features = ()
    alone = await Ways(services).find(team_id, "C1")
    # 900 tokens at $0.1, 120 at $0.5 a million, for fifteen questions
    assert with_topics.usd - alone.usd == pytest.approx(0.00001)
