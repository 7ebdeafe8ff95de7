"""The causes of a week's low replies in its digest: named by the model, counted here, kept for the
week after.
"""

import asyncio
import json
from dataclasses import replace
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
from bot.pipeline.row_file import FILE_IS_THEIRS, FILE_SENT, NO_FILE
from bot.slack.manifest import load_manifest
from bot.store import Store
from bot.store.figures import Place, Span
from bot.store.schema import cases, spent
from judge.evaluation.causes import Cause
from pocket_slack import View
from tests.cases import judged
from tests.gestures import add_cases, help_desk, its_digest, stats
from tests.model_server import Decided, Held
from tests.stage import CHANNEL, LOST, Stage, StageFactory, shown

REASON = "It names no source."
ANSWER = "no source: 1, 2, 3, 4, 5, 6, 6, 77\ntoo long: 7"


def place(stage: Stage) -> Place:
    return Place(stage.slack.workspace.team_id, help_desk(stage).id)


def this_week(stage: Stage) -> Week:
    assert stage.services
    return stage.services.schedule.current(datetime.now(UTC))


async def low_replies(stage: Stage, number: int, **changes: object) -> None:
    await add_cases(
        stage,
        help_desk(stage),
        stage.helper.id,
        *[1] * number,
        **{"justification": REASON} | changes,
    )


async def test_it_says_why_with_last_weeks_names_and_lists_all_by_cause_to_the_channel(
    stage: Stage,
) -> None:
    ago = datetime.now(UTC) - timedelta(weeks=1)
    await low_replies(stage, 7, judged_at=ago)
    earlier = [Cause("no source", (1, 2)), Cause("other", (3, 4, 5, 6, 7))]
    await note_causes(stage.log.database, place(stage), this_week(stage).before().label, earlier)
    await low_replies(stage, 9)
    stage.model.script(ANSWER)
    message = await its_digest(stage)
    assert "• no source: *helper* 6 (was 2)\n• other: *helper* 3 (was 5)" in shown(message)
    (request,) = stage.model.requests
    assert 'Use these names of the week before where they fit: "no source".' in str(request)
    found = await read_causes(stage.log.database, place(stage), this_week(stage))
    assert sorted(each.cause for each in found) == ["no source"] * 6 + ["other"] * 3
    assert len(await stage.log.database.values(select(spent.c.id))) == 1
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    window = shown(await stage.modal(stage.ben))
    assert "*no source* (6)\n• <" in window
    assert "*other* (3)" in window
    assert window.count(f"“{REASON}”") == 9
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
    await note_causes(
        stage.log.database,
        place(stage),
        this_week(stage).before().label,
        [Cause("no source", (1, 2))],
    )
    await low_replies(stage, 9)
    chosen = {str(number): "no source" if number <= 6 else "other" for number in range(1, 10)}
    stage.model.script(Decided(None, chosen=chosen), "too long: 1, 2")
    message = await its_digest(stage)
    assert (
        "• no source: *helper* 6 (was 2)\n• too long: *helper* 2 (was 0)\n• other: *helper* 1"
        in shown(message)
    )
    decision, writing = stage.model.requests
    assert [each["choices"] for each in decision["questions"]] == [
        [{"value": "no source"}, {"value": "other"}]
    ] * 9
    assert str(writing).count(REASON) == 3
    assert len(await stage.log.database.values(select(spent.c.id))) == 2


async def test_points_of_replies_that_people_chose_are_asked_for_once_and_listed(
    stage: Stage,
) -> None:
    stage.model.script(f"score: 1\n{REASON}")
    await stage.verdict(stage.ask_for_score())
    stage.model.script("relevant: yes\nuseful: no")
    before = len(stage.model.requests)
    message = await its_digest(stage)
    (request,) = stage.model.requests[before:]
    assert "Say for each of these criteria" in str(request)
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    assert f"“{REASON}”\nMissed: useful\nReply:" in shown(await stage.modal(stage.ben))
    assert stage.services
    week = this_week(stage)
    low = await read_low(stage.services, place(stage), Span(week.start, week.end))
    await look_into(stage.services, place(stage), week, low.replies)
    assert len(stage.model.requests) == before + 1


async def test_stats_say_why_last_weeks_replies_scored_low(stage: Stage) -> None:
    await low_replies(stage, 2, judged_at=datetime.now(UTC) - timedelta(weeks=1))
    week = this_week(stage).before()
    found = [Cause("no source", (1, 2))]
    await note_causes(stage.log.database, place(stage), week.label, found)
    said = shown(await stats(stage, "@helper"))
    assert f"*Why replies scored low, {days_words(week)}* (2 replies)\n• no source" in said


async def open_list(stage: Stage) -> View:
    stage.ben.click(await its_digest(stage), ids.ACTION_LOW_LIST)
    return await stage.modal(stage.ben)


async def press(stage: Stage, window: View) -> str:
    await stage.slack.settled(stage.ben.click(window, ids.ACTION_LOW_FILE))
    await stage.slack.until(lambda: stage.ben.view and "Send me this" not in shown(stage.ben.view))
    return shown(stage.ben.view)


async def test_the_list_comes_as_a_file_that_goes_with_its_replies(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(manifest=load_manifest(parts=["files"]))
    await low_replies(stage, 6, points={"useful": 0.0})
    stage.model.script(ANSWER)
    window = await open_list(stage)
    gone = place(stage).team_id, place(stage).channel_id, (await stage.log.cases.get(6)).message_ts
    await stage.log.edits.note_deleted(*gone)
    seen = await press(stage, window)
    assert FILE_SENT in seen
    assert "*no source* (6)" in seen
    (file,) = stage.slack.workspace.files.values()
    (message,) = stage.slack.workspace.channel(stage.ben.im).messages.values()
    assert (message.text, message.files[0]["name"]) == (FILE_IS_THEIRS, "low-replies.jsonl")
    rows = [json.loads(line) for line in file.content.splitlines()]
    assert [row["case"] for row in rows] == [5, 4, 3, 2, 1]
    assert rows[0]["link"].startswith("https://pocket.slack.com/archives/")
    row = {"assistant": "helper", "score": 1, "justification": REASON, "cause": "no source"}
    assert rows[0] | row | {"points": {"useful": 0.0}, "times": 1} == rows[0]
    assert rows[0].keys() > {"prompt", "conversation", "completion"}
    for _ in range(2):
        await unquote(stage.log, stage.services.client, [4])
        assert message.files == [{"id": file.id, "mode": "tombstone"}]
    # A person who has left the channel gets none.
    stage.ben.close()
    stage.ben.click(stage.ours()[0], ids.ACTION_LOW_LIST)
    window = await stage.modal(stage.ben)
    stage.ben.leave(CHANNEL)
    await stage.slack.settled(stage.ben.click(window, ids.ACTION_LOW_FILE))
    direct = stage.slack.workspace.channel(stage.ben.im).messages
    await stage.slack.until(lambda: len(direct) == 2)
    assert "Only people in this channel" in list(direct.values())[-1].text
    assert list(stage.slack.workspace.files.values()) == [file]


async def test_a_file_whose_answer_was_lost_goes_with_its_replies(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(manifest=load_manifest(parts=["files"]))
    await low_replies(stage, 2)
    stage.slack.fail("files.completeUploadExternal", **LOST[0])
    assert NO_FILE in await press(stage, await open_list(stage))
    (file,) = stage.slack.workspace.files.values()
    assert REASON in str(file.content)
    await unquote(stage.log, stage.services.client, [2])
    assert file.is_deleted


async def test_without_the_scope_or_words_there_is_no_file(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(manifest=load_manifest(parts=["files"]))
    await low_replies(stage, 1, justification="")
    message = await its_digest(stage)
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    assert "Send me this" not in shown(await stage.modal(stage.ben))
    stage.ben.close()
    await stage.log.database.execute(update(cases).values(justification=REASON))
    stage.services.identity = replace(stage.services.identity, scopes=frozenset())
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    window = shown(await stage.modal(stage.ben))
    assert REASON in window
    assert "Send me this" not in window


async def test_of_many_low_replies_the_newest_hundred_different_ones_are_sorted(
    stage: Stage,
) -> None:
    await low_replies(stage, 110)
    stage.model.script("no source: " + ", ".join(map(str, range(1, 401))))
    message = await its_digest(stage)
    assert "• no source: *helper* 100" in shown(message)
    found = await read_causes(stage.log.database, place(stage), this_week(stage))
    assert [each.case_id for each in found] == list(range(11, 111))
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    # A window has room for a hundred blocks.
    window = shown(await stage.modal(stage.ben))
    assert window.count(REASON) == 49
    assert window.endswith("There is no room for the others here.")
    stage.ben.close()
    await stage.log.database.execute(update(cases).values(question="Where?", response="Ask HR."))
    first = update(cases).filter_by(id=1)
    await stage.log.database.execute(first.values(question="When?", response="Soon."))
    stage.ben.click(message, ids.ACTION_LOW_LIST)
    window = shown(await stage.modal(stage.ben))
    assert "110 low replies of all assistants, " in window
    assert "109 replies alike, such as to “Where?”" in window
    assert "Reply: “Soon.”" in window


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
    here = Place("T1", "C1")
    one, two, three = [
        (await judged(log, key, score=1, author_id=who)).id
        for key, who in (("a", "U1"), ("b", "U1"), ("c", "U2"))
    ]
    week = Week.until(datetime.now(UTC) + timedelta(hours=1), parse_zone("UTC"))
    found = [Cause("no source", (one, two, 999)), Cause("other", (three,))]
    await note_causes(log.database, here, week.label, found)
    assert await read_causes(log.database, here, week) == [
        (one, "U1", "no source"),
        (two, "U1", "no source"),
        (three, "U2", "other"),
    ]
    for other, when in ((Place("T1", "C2"), week), (here, week.previous())):
        assert await read_causes(log.database, other, when) == []
    of_author = Place("T1", "C1", "U2")
    assert await read_causes(log.database, of_author, week) == [(three, "U2", "other")]
    case = await log.cases.get(two)
    await log.edits.drop_texts(case)
    left = await read_causes(log.database, here, week)
    assert [each.case_id for each in left] == [one, three]
    # Sorted before they went.
    await note_causes(log.database, here, "another", [Cause("too\0 long", (two,))])
    assert len(await read_causes(log.database, here, week)) == 2
