"""Scores given before the judge's was shown: who is shown which reply, what the window says, and
what is recorded.
"""

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from bot.features.labels import ids
from bot.features.labels.text import NO_TEXTS, NOT_RECORDED, NOTHING, weekly_text
from bot.slack import ids as slack_ids
from bot.store.audit import Action
from bot.store.labels import LabelBudget
from bot.store.schema import assignments, cases, labels
from pocket_slack import Delivery, Message, Person, View
from tests.gestures import add_case, help_desk, home, post_digest, private, scored
from tests.stage import CHANNEL, Stage, StageFactory, shown

SECRET = "Because the judge says so, and this must not be seen"
QUESTION = "How do I undo my last commit?"
ANSWER = "Run git reset --soft HEAD~1."
WAITING = NOTHING


async def a_reply(stage: Stage, score: int = 4, **changes: Any) -> int:
    """A verdict of a moment ago that somebody else asked for; its number."""
    row: dict[str, Any] = {"requester_id": "U-carl", "rubric_version": "f846c469"}
    row |= {"question": QUESTION, "response": ANSWER, "justification": SECRET, "thread_ts": "1.1"}
    await add_case(stage, help_desk(stage), stage.helper.id, score, **row | changes)
    return await stage.cases()


async def recorded(stage: Stage) -> list[tuple[Any, ...]]:
    names = ("case_id", "user_id", "score", "reason", "is_blind")
    query = select(*(labels.c[name] for name in names)).order_by(labels.c.created_at)
    return [tuple(row) for row in await stage.log.database.all(query)]


async def replies(stage: Stage, count: int, **changes: Any) -> list[int]:
    return [
        await a_reply(stage, key=f"k{n}", message_ts=f"{n}.1", **changes)
        for n in range(1, count + 1)
    ]


async def open_window(stage: Stage) -> View:
    """The window after `/judge label`."""
    stage.ann.command(CHANNEL, slack_ids.COMMAND, "label")
    return await stage.modal(stage.ann)


async def refusal(stage: Stage, text: str = "label", channel: str = CHANNEL) -> str:
    """What ann is told after a command."""
    before = len(stage.ann.ephemerals(channel))
    stage.ann.command(channel, slack_ids.COMMAND, text)
    return (await stage.told(stage.ann, before + 1, channel)).text


def case_in(view: View) -> int:
    return int(json.loads(view.body["private_metadata"])["case_id"])


async def give(stage: Stage, score: int, reason: str = "") -> View:
    """The window after a score was submitted in it."""
    number = case_in(await stage.modal(stage.ann))
    values = {slack_ids.of(ids.BLOCK_SCORE, number): str(score)}
    if reason:
        values[slack_ids.of(ids.BLOCK_REASON, number)] = reason
    await stage.slack.settled(stage.ann.submit(values))
    return await stage.modal(stage.ann)


async def click(stage: Stage, action_id: str) -> View:
    """The window after a button was pressed in it."""
    view = await stage.modal(stage.ann)
    before = view.hash
    stage.ann.click(view, action_id)
    await stage.slack.until(lambda: stage.ann.view and stage.ann.view.hash != before)
    return await stage.modal(stage.ann)


async def test_a_reply_is_scored_before_its_score_is_seen_and_that_score_stands(
    stage: Stage,
) -> None:
    answer, verdict = await a_verdict(stage)
    view = await open_window(stage)
    assert QUESTION in shown(view)
    assert answer.text in shown(view)
    assert stage.helper.user.name not in str(view.body)
    after = await give(stage, 2, "It lacks a warning.")
    assert WAITING in shown(after)
    assert "you *2*, the judge *4* of 5" in shown(after)
    stage.ann.close()
    for count, action_id in enumerate((slack_ids.ACTION_AGREE, slack_ids.ACTION_DISAGREE), start=1):
        await stage.slack.settled(stage.ann.click(verdict, action_id))
        assert "That score stands" in (await stage.told(stage.ann, count)).text
    assert stage.ann.view is None
    assert await recorded(stage) == [(1, stage.ann.id, 2, "It lacks a warning.", True)]


async def test_after_the_third_in_a_row_one_sees_how_they_compare(stage: Stage) -> None:
    await replies(stage, 4)
    assert "Reply 1 of at most 3" in shown(await open_window(stage))
    assert "Reply 2 of at most 3" in shown(await give(stage, 4))
    await give(stage, 1)
    view = shown(await give(stage, 4))
    assert "*You and the judge* gave the same score to 2 of 3" in view
    assert view.count("the judge *4* of 5 · <https://") == view.count(f"|{QUESTION}>") == 3
    await stage.slack.settled(stage.ann.submit())
    assert "Reply 1 of at most 3" in shown(await stage.modal(stage.ann))
    assert "the same score to 0 of 1" in shown(await give(stage, 3))


async def a_verdict(stage: Stage) -> tuple[Message, Message]:
    """One that ben asked for in a thread: the reply, and the verdict on it."""
    answer, verdict = await scored(stage, stage.ben)
    await stage.log.database.execute(update(cases).values(question_author_id=None))
    return answer, verdict


async def test_a_person_who_was_shown_the_score_is_not_shown_the_case_and_records_no_blind_one(
    stage: Stage,
) -> None:
    answer, verdict = await a_verdict(stage)
    await open_window(stage)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    assert "Scored before: *4 of 5*" in (await stage.told(stage.ann)).text
    assert NOT_RECORDED in shown(await give(stage, 4))
    stage.ann.close()
    for action_id in (slack_ids.ACTION_DETAILS, slack_ids.ACTION_DISAGREE):
        await stage.log.database.execute(assignments.delete())
        stage.ann.click(verdict, action_id)
        await stage.modal(stage.ann)
        stage.ann.close()
        assert WAITING in await asked(stage, stage.ann)
    assert await recorded(stage) == []


@pytest.mark.parametrize(
    ("command", "score"),
    [
        pytest.param("stats @helper", 1, marks=pytest.mark.needs("digest")),
        pytest.param("forget 1", 4, marks=pytest.mark.needs("privacy")),
    ],
)
async def test_a_case_that_a_list_has_told_the_score_of_is_not_shown_to_its_reader(
    stage: Stage, command: str, score: int
) -> None:
    await a_reply(stage, score)
    stage.ann.user.is_admin = True
    await refusal(stage, command)
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


async def asked(stage: Stage, person: Person) -> str:
    """What somebody is answered who wants to label: a window with a reply, or that there is none."""
    before = len(person.ephemerals(CHANNEL))
    person.command(CHANNEL, slack_ids.COMMAND, "label")
    await stage.slack.until(lambda: person.view or len(person.ephemerals(CHANNEL)) > before)
    return shown(person.view) if person.view else person.ephemerals(CHANNEL)[-1].text


async def test_nothing_that_is_sent_before_the_label_has_the_judges_words_or_score(
    stage: Stage,
) -> None:
    score = 98_765
    texts = ["Run A.", "Run B.", "Run C."]
    for text in texts:
        row = {"highest": score, "thread_ts": None, "response": text}
        await a_reply(stage, score, key=text, message_ts=text, **row)
    sent: list[str] = []
    stage.slack.workspace.journal.watch(lambda entry: sent.append(json.dumps(entry.data)))
    await open_window(stage)
    for _ in range(2):
        await click(stage, ids.ACTION_SKIP)
    everything = "".join(sent)
    assert all(text in everything for text in texts)
    assert SECRET not in everything
    assert f'"{score - 1}"' not in everything


async def test_the_same_window_submitted_twice_records_once(stage: Stage) -> None:
    await replies(stage, 2)
    number = case_in(await open_window(stage))
    first = stage.ann.submit({slack_ids.of(ids.BLOCK_SCORE, number): "2"})
    for delivery in (first, again(stage, first, {})):
        response = (await stage.slack.settled(delivery)).response
        state = json.loads(response["view"]["private_metadata"])
        assert (state["case_id"], state["labelled"]) == (3 - number, [number])
        assert "not recorded" not in str(response)
    assert [row[:3] for row in await recorded(stage)] == [(number, stage.ann.id, 2)]


def again(stage: Stage, sent: Delivery, changes: dict[str, Any]) -> Delivery:
    """What was sent, sent once more with another window."""
    payload = sent.payload | {"view": sent.payload["view"] | changes}
    return stage.slack.workspace.deliveries.send("interactive", payload)


def typed(number: int, score: str) -> dict[str, Any]:
    """The state of a window in which this score was given."""
    block = slack_ids.of(ids.BLOCK_SCORE, number)
    element = {"type": "radio_buttons", "selected_option": {"value": score}}
    return {"state": {"values": {block: {block: element}}}}


async def test_a_forged_window_records_nothing_and_shows_nothing(stage: Stage) -> None:
    await replies(stage, 3)
    leads = private(stage, "ben")
    texts = {"question": "Secret?", "response": "Secret.", "requester_id": "U-carl"}
    await add_case(stage, leads, stage.helper.id, 1, **texts)
    own = case_in(await open_window(stage))
    sent = await stage.slack.settled(stage.ann.submit({slack_ids.of(ids.BLOCK_SCORE, own): "2"}))
    never_shown = ({1, 2, 3} - {own, case_in(await stage.modal(stage.ann))}).pop()
    for number in (never_shown, 4, 99):
        state = {"channel_id": leads.id, "case_id": number, "labelled": [1, 2, 3]}
        view = {"private_metadata": json.dumps(state), **typed(number, "2")}
        answer = str((await stage.slack.settled(again(stage, sent, view))).response)
        assert NOT_RECORDED in answer
        assert "Secret" not in answer
        # Of three cases that it claims to have labelled, the one is compared that was.
        assert answer.count("the judge *") == 1
    assert len(await recorded(stage)) == 1


async def test_a_score_off_the_scale_is_refused_in_the_window(stage: Stage) -> None:
    await replies(stage, 2)
    number = case_in(await open_window(stage))
    block = slack_ids.of(ids.BLOCK_SCORE, number)
    sent = await stage.slack.settled(stage.ann.submit({block: "3"}))
    await stage.log.database.execute(labels.delete())
    await stage.log.database.execute(update(assignments).values(outcome=None))
    for score in ("6", "x"):
        answer = (await stage.slack.settled(again(stage, sent, typed(number, score)))).response
        assert answer["errors"] == {block: "The scale goes from 0 to 5."}
    assert await recorded(stage) == []


async def test_of_a_channel_that_somebody_has_left_nothing_is_recorded_compared_or_shown(
    stage: Stage,
) -> None:
    await replies(stage, 3)
    await open_window(stage)
    await give(stage, 3)
    stage.ann.leave(CHANNEL)
    view = shown(await give(stage, 3))
    assert NOT_RECORDED in view
    assert WAITING in view
    assert not any(words in view for words in ("the judge *", QUESTION, ANSWER))
    assert len(await recorded(stage)) == 1


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
    for text in ("weekly", "weekly 1001"):
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
    workspace = stage.slack.workspace
    mine = workspace.add_channel("mine", [stage.ann.user, workspace.bot])
    await a_reply(stage)
    for channel, words in ((private(stage, "ben"), "No."), (mine, "Mine.")):
        texts = {"question": "Why?", "response": words, "thread_ts": "1.1"}
        await add_case(stage, channel, stage.helper.id, 1, **texts)
    stage.ann.click(await home(stage), ids.ACTION_BLIND)
    found = shown(await stage.modal(stage.ann)) + shown(await give(stage, 3))
    assert [words in found for words in ("Mine.", ANSWER, "No.")] == [True, True, False]
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
    # so that what was typed stays in the window
    assert not delivery.is_acked
    assert stage.ann.view
