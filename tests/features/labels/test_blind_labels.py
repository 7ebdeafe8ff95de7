"""Scores given before the judge's was shown: who is shown which reply, what the window says, and
what is recorded.
"""

import json
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from bot.features.labels import ids
from bot.features.labels.text import NO_TEXTS, NOT_RECORDED, NOTHING, weekly_text
from bot.slack import ids as slack_ids
from bot.store.audit import Action
from bot.store.labels import LabelBudget
from bot.store.schema import assignments, cases, labels, turns
from pocket_slack import Entry, Message, Person, View
from tests.gestures import add_case, help_desk, home, post_digest, private, scored
from tests.stage import CHANNEL, Stage, StageFactory, shown

SECRET = "Because the judge says so, and this must not be seen"
QUESTION = "How do I undo my last commit?"
ANSWER = "Run git reset --soft HEAD~1."
WAITING = NOTHING


async def a_reply(stage: Stage, score: int = 4, **changes: Any) -> int:
    """A verdict of a moment ago that somebody else asked for; its number."""
    row = {
        "requester_id": "U-carl",
        "rubric_version": "f846c469",
        "question": QUESTION,
        "response": ANSWER,
        "justification": SECRET,
        "thread_ts": "1.1",
    }
    row |= {"author_id": stage.helper.id} | changes
    await add_case(stage, help_desk(stage), row.pop("author_id"), score, **row)
    return int(await stage.log.database.value(select(func.max(cases.c.id))))


async def replies(stage: Stage, count: int, **changes: Any) -> list[int]:
    return [
        await a_reply(stage, key=f"k{n}", message_ts=f"{n}.1", **changes)
        for n in range(1, count + 1)
    ]


async def open_window(stage: Stage, person: Person | None = None, channel: str = CHANNEL) -> View:
    """The window after `/judge label`."""
    who = person or stage.ann
    who.command(channel, slack_ids.COMMAND, "label")
    return await stage.modal(who)


async def refusal(
    stage: Stage, text: str = "label", person: Person | None = None, channel: str = CHANNEL
) -> str:
    """What somebody is told after a command."""
    who = person or stage.ann
    before = len(who.ephemerals(channel))
    who.command(channel, slack_ids.COMMAND, text)
    return (await stage.told(who, before + 1, channel)).text


def case_in(view: View) -> int:
    return int(json.loads(view.body["private_metadata"])["case_id"])


async def give(stage: Stage, score: int, reason: str = "", person: Person | None = None) -> View:
    """The window after a score was submitted in it."""
    who = person or stage.ann
    number = case_in(await stage.modal(who))
    values = {slack_ids.of(ids.BLOCK_SCORE, number): str(score)}
    if reason:
        values[slack_ids.of(ids.BLOCK_REASON, number)] = reason
    await stage.slack.settled(who.submit(values))
    return await stage.modal(who)


async def click(stage: Stage, action_id: str) -> View:
    """The window after a button was pressed in it."""
    view = await stage.modal(stage.ann)
    before = view.hash
    stage.ann.click(view, action_id)
    await stage.slack.until(lambda: stage.ann.view and stage.ann.view.hash != before)
    return await stage.modal(stage.ann)


async def test_what_was_said_before_is_shown_without_the_score(stage: Stage) -> None:
    number = await a_reply(stage, messages_before=1)
    said = {"position": 0, "part": "conversation", "ts": "0.1", "text_hash": ""}
    said |= {"role": "Person 1", "text": "Hello."}
    place = {"team_id": stage.slack.workspace.team_id, "channel_id": help_desk(stage).id}
    await stage.log.database.execute(insert(turns).values(place | said | {"case_id": number}))
    words = shown(await open_window(stage))
    assert words.index("Hello.") < words.index(QUESTION)
    assert SECRET not in words


async def recorded(stage: Stage) -> list[tuple[Any, ...]]:
    query = select(
        labels.c.case_id, labels.c.user_id, labels.c.score, labels.c.reason, labels.c.is_blind
    )
    return [tuple(row) for row in await stage.log.database.all(query.order_by(labels.c.created_at))]


async def test_a_reply_is_scored_before_its_score_is_seen_and_that_score_stands(
    stage: Stage,
) -> None:
    answer, verdict = await a_verdict(stage)
    view = await open_window(stage)
    assert QUESTION in shown(view)
    assert answer.text in shown(view)
    assert stage.helper.user.name not in str(view.body)
    (block,) = [
        block
        for block in view.body["blocks"]
        if block.get("element", {}).get("type") == "radio_buttons"
    ]
    assert "".join(option["value"] for option in block["element"]["options"]) == "543210"
    after = await give(stage, 2, "It lacks a warning.")
    assert WAITING in shown(after)
    assert "you *2*, the judge *4* of 5" in shown(after)
    stage.ann.close()
    stands = "You scored case 1 blind, with 2 of 5. That score stands"
    for count, action_id in enumerate((slack_ids.ACTION_AGREE, slack_ids.ACTION_DISAGREE), start=1):
        await stage.slack.settled(stage.ann.click(verdict, action_id))
        assert stands in (await stage.told(stage.ann, count)).text
    assert stage.ann.view is None
    assert await recorded(stage) == [(1, stage.ann.id, 2, "It lacks a warning.", True)]


async def test_after_the_third_in_a_row_one_sees_how_they_compare(stage: Stage) -> None:
    await replies(stage, 4)
    assert "Reply 1 of at most 3" in shown(await open_window(stage))
    assert "Reply 2 of at most 3" in shown(await give(stage, 4))
    await give(stage, 1)
    view = await give(stage, 4)
    assert "*You and the judge* gave the same score to 2 of 3" in shown(view)
    assert shown(view).count("the judge *4* of 5 · <https://") == 3
    assert shown(view).count(f"|{QUESTION}>") == 3
    await stage.slack.settled(stage.ann.submit())
    assert "Reply 1 of at most 3" in shown(await stage.modal(stage.ann))
    assert "the same score to 0 of 1" in shown(await give(stage, 3))
    assert len(await recorded(stage)) == 4


async def a_verdict(stage: Stage) -> tuple[Message, Message]:
    """One that ben asked for in a thread: the reply, and the verdict on it."""
    answer, verdict = await scored(stage, stage.ben)
    await change(stage, 1, question_author_id=None)
    return answer, verdict


async def test_a_person_who_was_shown_the_score_records_no_blind_one(stage: Stage) -> None:
    answer, _ = await a_verdict(stage)
    await open_window(stage)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    assert "Scored before: *4 of 5*" in (await stage.told(stage.ann)).text
    assert NOT_RECORDED in shown(await give(stage, 4))
    assert await recorded(stage) == []


async def test_a_case_whose_score_a_person_saw_is_not_shown_to_them(stage: Stage) -> None:
    for action_id in (slack_ids.ACTION_DETAILS, slack_ids.ACTION_DISAGREE):
        _, verdict = await scored(stage, stage.ben)
        await stage.log.database.execute(update(cases).values(question_author_id=None))
        stage.ann.click(verdict, action_id)
        assert "4 of 5" in shown(await stage.modal(stage.ann))
        stage.ann.close()
        assert WAITING in await refusal(stage)


@pytest.mark.needs("digest")
async def test_a_case_among_the_lowest_that_a_person_saw_is_not_shown_to_them(stage: Stage) -> None:
    await a_reply(stage, 1)
    await refusal(stage, "stats")  # which has no single scores
    assert WAITING not in await asked(stage, stage.ann)
    stage.ann.close()
    await refusal(stage, "stats @helper")
    assert WAITING in await asked(stage, stage.ann)
    assert WAITING not in await asked(stage, stage.ben)


@pytest.mark.needs("digest")
@pytest.mark.parametrize(
    ("fault", "is_told"),
    [({"error": "restricted_action"}, False), ({"status": 500, "is_applied": True}, True)],
)
async def test_a_digest_tells_its_scores_unless_slack_refuses_it(
    stage: Stage, fault: dict[str, Any], is_told: bool
) -> None:
    await a_reply(stage, 1)
    stage.slack.fail("chat.postMessage", **fault)
    await post_digest(stage)
    assert (WAITING in await asked(stage, stage.ben)) == is_told


@pytest.mark.needs("privacy")
async def test_a_case_that_a_person_was_asked_to_delete_is_not_shown_to_them(stage: Stage) -> None:
    number = await a_reply(stage)
    stage.ann.user.is_admin = True
    assert "Delete case" in await refusal(stage, f"forget {number}")
    assert WAITING in await refusal(stage)
    assert WAITING not in await asked(stage, stage.ben)


async def asked(stage: Stage, person: Person) -> str:
    """What somebody is answered who wants to label: a window with a reply, or that there is none."""
    before = len(person.ephemerals(CHANNEL))
    person.command(CHANNEL, slack_ids.COMMAND, "label")
    await stage.slack.until(lambda: person.view or len(person.ephemerals(CHANNEL)) > before)
    return shown(person.view) if person.view else person.ephemerals(CHANNEL)[-1].text


async def test_nothing_that_is_sent_before_the_label_has_the_judges_words_or_score(
    stage: Stage,
) -> None:
    sent: list[str] = []

    def look(entry: Entry) -> None:
        if entry.kind in {"call", "ack"}:
            sent.append(json.dumps(entry.data))

    score = 98_765
    await replies(stage, 3, score=score, highest=score, thread_ts=None)
    for number, text in ((1, "Run A."), (2, "Run B."), (3, "Run C.")):
        await change(stage, number, response=text)
    stage.slack.workspace.journal.watch(look)
    await open_window(stage)
    await click(stage, ids.ACTION_SKIP)
    await click(stage, ids.ACTION_SKIP)
    everything = "".join(sent)
    assert all(text in everything for text in ("Run A.", "Run B.", "Run C."))
    assert SECRET not in everything
    assert f'"{score - 1}"' not in everything
    stage.ann.close()


async def change(stage: Stage, number: int, **columns: Any) -> None:
    await stage.log.database.execute(update(cases).where(cases.c.id == number).values(columns))


async def test_the_same_window_submitted_twice_records_once(stage: Stage) -> None:
    await replies(stage, 2)
    number = case_in(await open_window(stage))
    stage.ann.fill({slack_ids.of(ids.BLOCK_SCORE, number): "2"})
    first = stage.ann.submit()
    again = stage.slack.workspace.deliveries.send("interactive", dict(first.payload))
    for delivery in (first, again):
        response = (await stage.slack.settled(delivery)).response
        assert case_of(response) == 3 - number
        assert "not recorded" not in str(response)
        assert json.loads(response["view"]["private_metadata"])["labelled"] == [number]
    assert [row[:3] for row in await recorded(stage)] == [(number, stage.ann.id, 2)]


def case_of(response: dict[str, Any]) -> int:
    return int(json.loads(response["view"]["private_metadata"])["case_id"])


async def test_a_forged_window_records_nothing_and_shows_nothing(stage: Stage) -> None:
    await replies(stage, 3, score=4)
    leads = private(stage, "ben")
    await add_case(
        stage,
        leads,
        stage.helper.id,
        1,
        question="Secret?",
        response="Secret.",
        requester_id="U-carl",
    )
    shown_case = case_in(await open_window(stage))
    delivery = await stage.slack.settled(
        stage.ann.submit({slack_ids.of(ids.BLOCK_SCORE, shown_case): "2"})
    )
    assert len(await recorded(stage)) == 1
    never_shown = ({1, 2, 3} - {shown_case, case_in(await stage.modal(stage.ann))}).pop()
    for number in (never_shown, 4, 99):
        view = dict(delivery.payload["view"])
        view["private_metadata"] = json.dumps(
            {"channel_id": leads.id, "case_id": number, "labelled": [1, 2, 3]}
        )
        score = {"type": "radio_buttons", "selected_option": {"value": "2"}}
        block = slack_ids.of(ids.BLOCK_SCORE, number)
        view["state"] = {"values": {block: {block: score}}}
        forged = stage.slack.workspace.deliveries.send(
            "interactive", delivery.payload | {"view": view}
        )
        answer = (await stage.slack.settled(forged)).response
        assert answer
        assert NOT_RECORDED in str(answer)
        assert "Secret" not in str(answer)
        # Of three cases that it claims to have labelled, the one is compared that was.
        assert str(answer).count("the judge *") == 1
    assert len(await recorded(stage)) == 1


async def test_a_score_off_the_scale_is_refused_in_the_window(stage: Stage) -> None:
    await replies(stage, 2)
    number = case_in(await open_window(stage))
    block = slack_ids.of(ids.BLOCK_SCORE, number)
    delivery = await stage.slack.settled(stage.ann.submit({block: "3"}))
    await stage.log.database.execute(labels.delete())
    await stage.log.database.execute(update(assignments).values(outcome=None))
    for score in ("6", "x"):
        sent = json.dumps(delivery.payload["view"])
        view = json.loads(sent.replace('"value": "3"', f'"value": "{score}"'))
        forged = delivery.payload | {"view": view}
        again = stage.slack.workspace.deliveries.send("interactive", forged)
        answer = (await stage.slack.settled(again)).response
        assert answer == {
            "response_action": "errors",
            "errors": {block: "The scale goes from 0 to 5."},
        }
    assert await recorded(stage) == []


async def test_of_a_channel_that_somebody_has_left_nothing_is_recorded_compared_or_shown(
    stage: Stage,
) -> None:
    await replies(stage, 4)
    await open_window(stage)
    await give(stage, 3)
    await give(stage, 3)
    stage.ann.leave(CHANNEL)
    view = await give(stage, 3)
    assert NOT_RECORDED in shown(view)
    assert WAITING in shown(view)
    assert not any(words in shown(view) for words in ("the judge *", QUESTION, ANSWER))
    assert len(await recorded(stage)) == 2


async def test_how_many_are_wanted_is_set_by_those_who_set_digests_and_noted(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(digest_by="admins")
    assert "Only workspace admins" in await refusal(stage, "label weekly 3")
    stage.ann.user.is_admin = True
    assert await refusal(stage, "label weekly 3") == weekly_text(LabelBudget(3))
    assert await refusal(stage, "label weekly 0") == weekly_text(LabelBudget(0))
    assert [act.what for act in await stage.log.audit.since()] == [Action.LABELS_CHANGED] * 2
    await a_reply(stage)
    assert await refusal(stage) == weekly_text(LabelBudget(0))
    for text in ("weekly", "weekly many", "weekly 1001", "now"):
        assert f"I do not know '{text}'" in await refusal(stage, f"label {text}")


async def test_without_texts_in_the_log_there_is_nothing_to_score(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(store_text="none")
    await a_reply(stage)
    assert await refusal(stage) == NO_TEXTS


@pytest.mark.needs("home")
async def test_nothing_of_a_channel_in_which_scoring_is_switched_off(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(channels_allowed="C0OTHER")
    await a_reply(stage)
    assert await refusal(stage) == WAITING
    assert await refusal(stage, channel=stage.ann.im) == WAITING
    assert ids.ACTION_BLIND not in str((await home(stage)).body)


@pytest.mark.needs("home")
async def test_home_shows_those_of_all_channels(stage: Stage) -> None:
    mine = stage.slack.workspace.add_channel(
        "mine", [stage.slack.workspace.user("ann"), stage.slack.workspace.bot]
    )
    await a_reply(stage)
    for channel, words in ((private(stage, "ben"), "No."), (mine, "Mine.")):
        texts = {"question": "Why?", "response": words, "thread_ts": "1.1"}
        await add_case(stage, channel, stage.helper.id, 1, **texts)
    view = await home(stage)
    stage.ann.click(view, ids.ACTION_BLIND)
    found = shown(await stage.modal(stage.ann))
    found += shown(await give(stage, 3))
    assert "Mine." in found
    assert ANSWER in found
    assert "No." not in found
    assert "the same score to 0 of 2" in shown(await give(stage, 3))
    stage.ann.close()
    stage.ann.click(await home(stage), ids.ACTION_BLIND)
    await stage.slack.until(lambda: stage.ann.home and WAITING in shown(stage.ann.home))


async def test_where_slack_does_not_say_who_is_in_a_channel_nothing_is_shown_or_recorded(
    stage: Stage,
) -> None:
    await a_reply(stage)
    await open_window(stage)
    stage.slack.fail("users.conversations", error="internal_error", times=2)
    delivery = stage.ann.submit({slack_ids.of(ids.BLOCK_SCORE, 1): "3"})
    (said,) = await stage.slack.until(lambda: stage.ann.messages(stage.ann.im))
    assert said.text.startswith("Slack did not tell me whether you are in that channel")
    assert await recorded(stage) == []
    assert (delivery.is_acked, stage.ann.view is None) == (
        False,
        False,
    )  # so that what was typed stays in the window
