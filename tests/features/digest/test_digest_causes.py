"""The causes of a week's low replies in its digest: named by the model, counted here, kept for the
week after.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.domain.week import Week, parse_zone
from bot.features.digest import ids
from bot.features.digest.causes import look_into
from bot.features.digest.channel_week import read_low
from bot.features.digest.queries import note_causes, read_causes
from bot.figures.week import days_words
from bot.pipeline.quoting import unquote
from bot.pipeline.row_file import FILE_IS_THEIRS, FILE_SENT
from bot.slack.manifest import load_manifest
from bot.store import Store
from bot.store.figures import Place, Span
from bot.store.schema import cases, spent
from judge.evaluation.causes import Cause
from pocket_slack import Message, View
from tests.cases import judged
from tests.gestures import add_cases, help_desk, its_digest, stats
from tests.model_server import Decided, Held
from tests.stage import CHANNEL, Stage, StageFactory, shown

REASON = "It names no source."
ANSWER = "no source: 1, 2, 3, 4, 5, 6, 6, 77\ntoo long: 7"


def place(stage: Stage) -> Place:
    return Place(stage.slack.workspace.team_id, help_desk(stage).id)


def this_week(stage: Stage) -> Week:
    return stage.services.schedule.current(datetime.now(UTC))


async def note(stage: Stage, week: Week, **found: tuple[int, ...]) -> None:
    named = [Cause(name.replace("_", " "), case_ids) for name, case_ids in found.items()]
    await note_causes(stage.log.database, place(stage), week.label, named)


async def low_replies(stage: Stage, number: int, **changes: object) -> None:
    wrong = {"justification": REASON} | changes
    await add_cases(stage, help_desk(stage), stage.helper.id, *[1] * number, **wrong)


async def open_list(stage: Stage, message: Message | None = None) -> View:
    stage.ben.click(message or await its_digest(stage), ids.ACTION_LOW_LIST)
    return await stage.modal(stage.ben)


async def test_it_says_why_with_last_weeks_names_and_lists_all_by_cause_to_the_channel(
    stage: Stage,
) -> None:
    await low_replies(stage, 7, judged_at=datetime.now(UTC) - timedelta(weeks=1))
    await note(stage, this_week(stage).before(), no_source=(1, 2), other=(3, 4, 5, 6, 7))
    await low_replies(stage, 9)
    stage.model.script(ANSWER)
    message = await its_digest(stage)
    assert "• no source: *helper* 6 (was 2)\n• other: *helper* 3 (was 5)" in shown(message)
    assert 'where they fit: "no source".' in str(stage.model.requests)
    assert len(await stage.log.database.values(select(spent.c.id))) == 1
    window = shown(await open_list(stage, message))
    assert "*no source* (6)\n• <" in window
    assert window.count(f"“{REASON}”") == 9
    assert "Send me this" not in window  # without the scope
    stage.ben.close()
    stage.ben.leave(CHANNEL)
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    assert "Only people in this channel" in (await stage.told(stage.ben)).text


async def test_a_name_with_somebodys_word_is_other_also_if_it_is_forgotten_during_the_request(
    stage: Stage,
) -> None:
    await low_replies(stage, 4, question="Does Krause pay for my illness?")
    await low_replies(stage, 3, question_author_id=stage.ann.id)
    gate = asyncio.Event()
    stage.model.script(Held(gate, "ignores illness of Krause: 1, 2, 3, 4, 5"))
    posting = asyncio.create_task(its_digest(stage))
    await stage.model.asked(1)
    for case_id in range(1, 5):
        await stage.log.edits.drop_texts(await stage.log.cases.get(case_id))
    gate.set()
    assert "• other: *helper* 3" in shown(await posting)
    found = await read_causes(stage.log.database, place(stage), this_week(stage))
    assert [each.cause for each in found] == ["other"] * 3


async def test_a_decision_model_chooses_among_last_weeks_names(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(judge_ask="decision")
    await low_replies(stage, 2, judged_at=datetime.now(UTC) - timedelta(weeks=1))
    await note(stage, this_week(stage).before(), no_source=(1, 2))
    await low_replies(stage, 9)
    chosen = {str(number): "no source" if number <= 6 else "other" for number in range(1, 10)}
    stage.model.script(Decided(None, chosen=chosen), "too long: 1, 2")
    said = shown(await its_digest(stage))
    assert "• no source: *helper* 6 (was 2)\n• too long: *helper* 2 (was 0)\n• other" in said
    assert len(await stage.log.database.values(select(spent.c.id))) == 2


async def test_points_of_replies_that_people_chose_are_asked_for_once_and_listed(
    stage: Stage,
) -> None:
    stage.model.script(f"score: 1\n{REASON}")
    await stage.verdict(stage.ask_for_score())
    stage.model.script("relevant: yes\nuseful: no")
    before = len(stage.model.requests)
    window = await open_list(stage)
    assert f"“{REASON}”\nMissed: useful\nReply:" in shown(window)
    week = this_week(stage)
    low = await read_low(stage.services, place(stage), Span(week.start, week.end))
    await look_into(stage.services, place(stage), week, low.replies)
    assert len(stage.model.requests) == before + 1


async def test_stats_say_why_last_weeks_replies_scored_low(stage: Stage) -> None:
    await low_replies(stage, 2, judged_at=datetime.now(UTC) - timedelta(weeks=1))
    week = this_week(stage).before()
    await note(stage, week, no_source=(1, 2))
    said = shown(await stats(stage, "@helper"))
    assert f"*Why replies scored low, {days_words(week)}* (2 replies)\n• no source" in said


async def test_the_list_comes_as_a_file_that_goes_with_its_replies(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(manifest=load_manifest(parts=["files"]))
    await low_replies(stage, 6, points={"useful": 0.0})
    stage.model.script(ANSWER)
    window = await open_list(stage)
    gone = await stage.log.cases.get(6)
    await stage.log.edits.note_deleted(gone.team_id, gone.channel_id, gone.message_ts)
    await stage.slack.settled(stage.ben.click(window, ids.ACTION_LOW_FILE))
    await stage.slack.until(lambda: FILE_SENT in shown(stage.ben.view))
    (file,) = stage.slack.workspace.files.values()
    (message,) = stage.slack.workspace.channel(stage.ben.im).messages.values()
    assert (message.text, message.files[0]["name"]) == (FILE_IS_THEIRS, "low-replies.jsonl")
    rows = [json.loads(line) for line in file.content.splitlines()]
    assert [row["case"] for row in rows] == [5, 4, 3, 2, 1]
    row = {"assistant": "helper", "score": 1, "justification": REASON, "cause": "no source"}
    assert rows[0] | row | {"points": {"useful": 0.0}, "times": 1} == rows[0]
    assert rows[0].keys() > {"prompt", "conversation", "completion", "link"}
    await unquote(stage.log, stage.services.client, [4])
    assert message.files == [{"id": file.id, "mode": "tombstone"}]


async def test_of_many_low_replies_the_newest_hundred_are_sorted(stage: Stage) -> None:
    await low_replies(stage, 110)
    stage.model.script("no source: " + ", ".join(map(str, range(1, 401))))
    message = await its_digest(stage)
    found = await read_causes(stage.log.database, place(stage), this_week(stage))
    assert [each.case_id for each in found] == list(range(11, 111))
    # A window has room for a hundred blocks.
    window = shown(await open_list(stage, message))
    assert window.count(REASON) == 49
    assert window.endswith("There is no room for the others here.")
    stage.ben.close()
    await stage.log.database.execute(update(cases).values(response="Ask HR."))
    assert "110 low replies of all assistants, " in shown(await open_list(stage, message))


@pytest.mark.parametrize(
    ("settings", "number", "requests"),
    [
        ({}, 4, 0),
        ({"judge_model": "offline"}, 5, 0),
        ({"max_cases_per_day": 1}, 5, 0),
        ({}, 5, 1),
    ],
    ids=["too few", "offline", "limit", "prose"],
)
async def test_there_are_none_of_few_replies_and_of_a_model_that_does_not_name_them(
    open_stage: StageFactory, settings: dict[str, object], number: int, requests: int
) -> None:
    stage: Stage = await open_stage(**settings)
    await low_replies(stage, number)
    stage.model.script("These replies are bad, all 5 of them.")
    assert "Why replies scored low" not in shown(await its_digest(stage))
    assert len(stage.model.requests) == requests


@pytest.mark.on("sqlite")
async def test_causes_are_those_of_a_channels_week_and_leave_with_their_texts(log: Store) -> None:
    whose = {"a": "U1", "b": "U1", "c": "U2"}
    made = [await judged(log, key, score=1, author_id=who) for key, who in whose.items()]
    one, two, three = (case.id for case in made)
    here = Place("T1", "C1")
    week = Week.until(datetime.now(UTC) + timedelta(hours=1), parse_zone("UTC"))
    found = [Cause("no source", (one, two, 999)), Cause("other", (three,))]
    await note_causes(log.database, here, week.label, found)

    async def read(place: Place = here, when: Week = week) -> list[int]:
        return [each.case_id for each in await read_causes(log.database, place, when)]

    assert await read() == [one, two, three]
    assert await read(Place("T1", "C2")) == await read(when=week.previous()) == []
    assert await read(Place("T1", "C1", "U2")) == [three]
    await log.edits.drop_texts(await log.cases.get(two))
    # Sorted before they went.
    await note_causes(log.database, here, "another", [Cause("too\0 long", (two,))])
    assert await read() == [one, three]
