"""`/judge recent`: one's own cases from everywhere, page by page, and nobody else's."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, insert

from bot.domain.case import CaseSource, CaseStatus, Visibility
from bot.features.privacy import ids as privacy_ids
from bot.slack import ids
from bot.store import Store
from bot.store.schema import cases
from pocket_slack import Message
from tests.model_server import Held
from tests.stage import CHANNEL, GOOD, Stage, StageFactory, buttons, shown

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def recent(stage: Stage, count: int = 1) -> Message:
    """What ann is told after `/judge recent`."""
    stage.ann.command(CHANNEL, ids.COMMAND, "recent")
    return await stage.told(stage.ann, count)


async def add_cases(log: Store, count: int, **changes: Any) -> None:
    """That many cases, delivered a minute apart, the last one newest."""
    row = {
        "requester_name": "ann",
        "source": CaseSource.SHORTCUT,
        "rubric": "additive-5",
        "visibility": Visibility.THREAD,
        "attempt": 1,
        "status": CaseStatus.DELIVERED,
        "message_ts": "1795249798.298493",
        "score": 4,
        "lowest": 0,
        "highest": 5,
    }
    async with log.database.engine.begin() as connection:
        for number in range(count):
            at = NOON + timedelta(minutes=number)
            times = {"created_at": at, "judged_at": at, "key": f"{changes.get('requester_id')}:{number}:{changes}"}
            await connection.execute(insert(cases).values(row | times | changes))


def of_ann(stage: Stage) -> dict[str, str]:
    return {
        "team_id": stage.slack.workspace.team_id,
        "requester_id": stage.ann.id,
        "channel_id": stage.slack.workspace.channel(CHANNEL).id,
    }


def numbers(message: Message) -> list[int]:
    """The numbers of the cases in a list, in its order."""
    words = [word for line in shown(message).splitlines() for word in line.split(" · ")]
    return [int(word.removeprefix("case ")) for word in words if word.startswith("case ")]


async def test_a_first_page_says_how_to_begin(stage: Stage) -> None:
    told = await recent(stage)
    assert told.text.startswith("You have not asked for a score yet.")
    assert buttons(told) == []


async def test_a_score_is_listed_with_its_place_and_a_link_to_it(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
    verdict = await stage.verdict(parent)
    await stage.reaches(1, CaseStatus.DELIVERED)
    words = shown(await recent(stage))
    link = stage.slack.workspace.permalink(answer.channel_id, verdict.ts, parent.ts).replace("&", "&amp;")
    assert f"<{link}|Score 4 of 5> · helper in <#{answer.channel_id}> · <!date^" in words
    assert f"· case 1\n{answer.text}" in words
    assert "only you" not in words


async def test_a_reply_is_quoted_by_its_first_sixty_characters_which_format_nothing(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response=f"<!channel>\n*see* `rm` {'x' * 90}")
    told = await recent(stage)
    assert [block["type"] for block in told.blocks] == ["section", "section", "rich_text"]
    assert shown(told).splitlines()[-1] == f"<!channel> *see* `rm` {'x' * 38}…"


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ({"response": "Gone.", "deleted_at": NOON}, "message deleted"),
        ({"response": "Gone.", "forgotten_at": NOON}, "forgotten"),
        ({"response_hash": "0" * 64}, "text not stored"),
        ({"status": CaseStatus.RECEIVED, "score": None}, "not read yet"),
        ({"blocker": "An image."}, "no text"),
        ({"response": "\u200b"}, "no text"),
    ],
)
async def test_where_there_is_no_text_a_word_says_why(stage: Stage, how: dict[str, Any], word: str) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), **how)
    words = shown(await recent(stage))
    assert words.endswith(f" · {word}")
    assert "Gone" not in words


async def test_who_wrote_what_was_forgotten_is_not_said(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), author_id=stage.ben.id, forgotten_at=NOON)
    await add_cases(stage.log, 1, **of_ann(stage), author_id=stage.ben.id, response="Kept.")
    assert shown(await recent(stage)).count("ben in <#") == 1


async def test_typed_texts_are_named_as_such(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), message_ts=None, response="Like this.")
    assert "Score 4 of 5 · typed in <#" in shown(await recent(stage))


async def from_home(stage: Stage) -> str:
    """What ann's list says where she stands in no channel."""
    stage.ann.command(stage.ann.im, ids.COMMAND, "recent")
    return shown(await stage.told(stage.ann, len(stage.ann.ephemerals(stage.ann.im)) + 1, stage.ann.im))


async def test_elsewhere_a_reply_is_quoted_as_long_as_one_is_in_its_channel(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Reset it.", author_id=stage.helper.id)
    assert "\nReset it." in await from_home(stage)
    stage.ann.leave(CHANNEL)
    left = await from_home(stage)
    assert "Reset" not in left
    assert left.endswith(" · text shown only in its channel")
    assert "helper in <#" in left


async def test_an_archived_channel_still_has_its_readers(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Reset it.")
    stage.slack.workspace.channel(CHANNEL).is_archived = True
    assert "\nReset it." in await from_home(stage)


async def test_of_a_private_channel_without_the_app_replies_are_quoted_in_it_alone(stage: Stage) -> None:
    workspace = stage.slack.workspace
    secret = workspace.add_channel("secret", [workspace.user("ann")], is_private=True)
    await add_cases(stage.log, 1, **of_ann(stage) | {"channel_id": secret.id}, response="Reset it.")
    assert "Reset" not in await from_home(stage)
    stage.ann.command("secret", ids.COMMAND, "recent")
    assert "\nReset it." in shown(await stage.told(stage.ann, channel="secret"))


async def test_in_direct_messages_everything_is_ones_own(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage) | {"channel_id": stage.ann.im}, response="Reset it.")
    assert "\nReset it." in shown(await recent(stage))


async def test_where_slack_does_not_tell_nothing_is_quoted(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Reset it.")
    stage.slack.fail("users.conversations", error="missing_scope")
    words = await from_home(stage)
    assert "Score 4 of 5" in words
    assert "Reset" not in words


async def test_without_stored_texts_not_even_a_case_under_way_is_quoted(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(store_text="none")
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    _, answer = stage.ask_and_answer()
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    words = shown(await recent(stage))
    gate.set()
    assert "Being scored" in words
    assert words.endswith(" · text not stored")


async def test_what_is_not_there_yet_is_listed_as_such(stage: Stage) -> None:
    gate = asyncio.Event()
    stage.model.script(Held(gate, GOOD))
    _, answer = stage.ask_and_answer()
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    alone = stage.helper.post(CHANNEL, "An answer to nothing.")
    stage.slack.fail("conversations.history", error="missing_scope")
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, alone))
    await stage.reaches(2, CaseStatus.ASKED)
    lines = [line for line in shown(await recent(stage)).splitlines() if " · case " in line]
    assert "Waiting for your question" in lines[0]
    assert "Being scored" in lines[1]
    gate.set()


@pytest.mark.needs("privacy")
async def test_a_case_that_waits_for_its_question_says_how_to_drop_it(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), response="Reset it.")
    await add_cases(stage.log, 1, **of_ann(stage), status=CaseStatus.ASKED, score=None, response="Reset it.")
    lines = shown(await recent(stage)).splitlines()
    assert lines[1].endswith(" · case 2 · `/judge forget 2` deletes it")
    assert "forget" not in lines[3]
    stage.ann.command(CHANNEL, ids.COMMAND, "forget 2")
    asked = await stage.told(stage.ann, 2)
    assert "`/judge forget" not in shown(asked)  # which they have just typed
    stage.ann.click(asked, privacy_ids.ACTION_FORGET)
    await stage.slack.until(lambda: not buttons(asked))
    assert numbers(await recent(stage, 3)) == [1]


async def test_unscored_cases_say_why(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), score=None, unscored_reason="refused")
    assert "Unscored: declined by the model" in shown(await recent(stage))


@pytest.mark.parametrize("how", [{"visibility": Visibility.ME}, {"blocker": "No text."}, {"blocked_by": "nope"}])
async def test_what_only_the_person_sees_says_so(stage: Stage, how: dict[str, str]) -> None:
    await add_cases(stage.log, 1, **of_ann(stage), **how)
    assert "only you" in shown(await recent(stage))


async def test_cases_of_others_and_of_other_teams_are_not_listed(stage: Stage) -> None:
    await add_cases(stage.log, 1, **of_ann(stage) | {"requester_id": stage.ben.id})
    await add_cases(stage.log, 1, **of_ann(stage) | {"team_id": "T0"})
    assert "You have not asked for a score yet" in shown(await recent(stage))


async def test_the_page_turns_in_place_to_the_oldest_and_back(stage: Stage) -> None:
    await add_cases(stage.log, 23, **of_ann(stage))
    told = await recent(stage)
    assert numbers(told) == list(range(23, 13, -1))
    stage.ann.click(told, ids.ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: numbers(told) == list(range(13, 3, -1)))
    assert buttons(told) == [ids.ACTION_RECENT_NEWEST, ids.ACTION_RECENT_OLDER]
    stage.ann.click(told, ids.ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: numbers(told) == [3, 2, 1])
    assert buttons(told) == [ids.ACTION_RECENT_NEWEST]
    stage.ann.click(told, ids.ACTION_RECENT_NEWEST)
    await stage.slack.until(lambda: numbers(told) == list(range(23, 13, -1)))
    assert stage.ann.ephemerals(CHANNEL) == [told]


async def test_older_leads_on_where_cases_were_deleted(stage: Stage) -> None:
    await add_cases(stage.log, 15, **of_ann(stage))
    told = await recent(stage)
    await stage.log.database.execute(delete(cases).where(cases.c.id.between(4, 8)))
    stage.ann.click(told, ids.ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: numbers(told) == [3, 2, 1])


async def test_older_says_when_nothing_older_is_left(stage: Stage) -> None:
    await add_cases(stage.log, 11, **of_ann(stage))
    told = await recent(stage)
    await stage.log.database.execute(delete(cases))
    stage.ann.click(told, ids.ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: "There are no older cases" in shown(told))


async def test_a_forged_place_shows_no_cases_of_others(stage: Stage) -> None:
    await add_cases(stage.log, 11, **of_ann(stage))
    await add_cases(stage.log, 3, **of_ann(stage) | {"requester_id": stage.ben.id})
    told = await recent(stage)
    told.blocks[-1]["elements"][0]["value"] = "2030-01-01T00:00:00+00:00/999"
    stage.ann.click(told, ids.ACTION_RECENT_OLDER)
    await stage.slack.until(lambda: buttons(told) == [ids.ACTION_RECENT_NEWEST, ids.ACTION_RECENT_OLDER])
    assert numbers(told) == list(range(11, 1, -1))


async def test_cases_of_one_moment_are_each_listed_once(database_url: str) -> None:
    log = await Store.open(database_url)
    whose = {"team_id": "T1", "requester_id": "U1", "channel_id": "C1"}
    for number in range(5):
        await add_cases(log, 1, **whose, key=str(number))
    reader = log.cases
    first = await reader.recent("T1", "U1", 2)
    rest = await reader.recent("T1", "U1", 9, (first[-1].created_at, first[-1].id))
    await log.close()
    assert [case.id for case in (*first, *rest)] == [5, 4, 3, 2, 1]
