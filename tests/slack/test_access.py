"""A case is for its requester, and for those who can see it in a channel; to everybody else it is
not there.
"""

import json
from typing import Any

import pytest

from bot.domain.case import CaseStatus, Visibility
from bot.pipeline.text import NO_CASE, NOT_IN_BOTH, unsure_of_membership
from bot.slack import ids
from bot.slack.members import MembershipError
from pocket_slack import Channel, Delivery, Message, Person, payloads
from tests.cases import newest, save_visibility
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown

LEADS = "leads"
SECRET = "What will the new price be?"


@pytest.fixture
async def channel(stage: Stage) -> Channel:
    """A private channel of ann's, with a reply that she had scored as case 1."""
    return await score_in_leads(stage)


async def score_in_leads(stage: Stage) -> Channel:
    workspace = stage.slack.workspace
    members = [stage.ann.user, stage.helper.user, workspace.bot]
    channel = workspace.add_channel(LEADS, members, is_private=True)
    question = stage.ann.post(LEADS, SECRET)
    answer = stage.helper.post(LEADS, "Nine euros.", thread_ts=question.ts)
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(1, CaseStatus.DELIVERED)
    return channel


def click(
    stage: Stage, person: Person, action_id: str, value: str, where: str = CHANNEL
) -> Delivery:
    """A click on a button that names whatever it names, in a message of a channel."""
    workspace = stage.slack.workspace
    message = stage.ann.post(where, "Anything.")
    action = {"type": "button", "action_id": action_id, "block_id": "any", "value": value}
    payload = payloads.message_action(
        workspace, person.user, workspace.channel(where), message, action
    )
    return workspace.deliveries.send("interactive", payload)


def submit(
    stage: Stage, person: Person, callback_id: str, remembered: str, **chosen: str
) -> Delivery:
    """A submitted modal that remembers whatever it remembers."""
    workspace = stage.slack.workspace
    values = {
        key: {key: {"value": value, "selected_option": {"value": value}}}
        for key, value in chosen.items()
    }
    view = {
        "id": "V1",
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": remembered,
        "state": {"values": values},
    }
    payload: dict[str, Any] = {
        "type": "view_submission",
        "team": workspace.team(),
        "user": {"id": person.id, "username": person.user.name, "team_id": person.user.team_id},
        "trigger_id": workspace.grants.new_trigger(person.id),
        "view": view,
    }
    return workspace.deliveries.send("interactive", payload)


@pytest.mark.parametrize("typed", ["contested", "release", "rubric"])
async def test_what_is_of_a_channel_says_so_in_a_direct_message(stage: Stage, typed: str) -> None:
    stage.ann.command(stage.ann.im, ids.COMMAND, typed)
    told = await stage.told(stage.ann, channel=stage.ann.im)
    assert told.text == "Use this in a channel, not in a direct message."


async def heard(stage: Stage, person: Person) -> str:
    """What the person was told for themselves, in the channel or, after a modal, in direct
    messages.
    """

    def told() -> list[Message]:
        return [*person.ephemerals(CHANNEL), *person.messages(person.im)]

    await stage.slack.until(lambda: bool(told()))
    return shown(told()[-1])


CLICKS = [
    ids.ACTION_AGAIN,
    ids.ACTION_WRONG_QUESTION,
    ids.ACTION_ASK,
    ids.ACTION_LABEL,
    ids.ACTION_AGREE,
    ids.ACTION_DISAGREE,
]
MODALS = [
    (ids.VIEW_CORRECT, {ids.BLOCK_QUESTION: "Why?"}),
    (ids.VIEW_ANSWER, {ids.BLOCK_QUESTION: "Why?"}),
]


@pytest.mark.needs("labels")
async def test_a_button_leads_to_no_case_of_a_channel_of_others_and_to_none_that_is_not_there(
    stage: Stage, channel: Channel, caplog: pytest.LogCaptureFixture
) -> None:
    before = len(channel.messages)
    clicks = [(action_id, "1") for action_id in CLICKS]
    clicks += [(ids.ACTION_AGAIN, other) for other in ("2", "abc", "", "-1", "9" * 20)]
    for count, (action_id, value) in enumerate(clicks, 1):
        await stage.slack.settled(click(stage, stage.ben, action_id, value))
        assert (await stage.told(stage.ben, count)).text == NO_CASE
        assert stage.ben.view is None
    assert (len(channel.messages), await stage.log.cases.counts()) == (
        before,
        {CaseStatus.DELIVERED: 1},
    )
    assert "Traceback" not in caplog.text


@pytest.mark.needs("labels")
async def test_a_window_leads_to_no_case_of_a_channel_of_others_and_to_none_that_is_not_there(
    stage: Stage, channel: Channel
) -> None:
    from bot.features.labels.ids import BLOCK_SCORE, VIEW_LABEL

    modals = [*MODALS, (VIEW_LABEL, {BLOCK_SCORE: "1"})]
    windows = [(view, '{"case_id": 1}', chosen) for view, chosen in modals]
    junk = ("abc", '{"case_id": 2}', '{"case_id": "abc"}', f'{{"case_id": {"9" * 20}}}')
    windows += [(ids.VIEW_CORRECT, each, {"question": "Why?"}) for each in junk]
    for count, (view, remembered, chosen) in enumerate(windows, 1):
        await stage.slack.settled(submit(stage, stage.ben, view, remembered, **chosen))
        await stage.slack.until(lambda count=count: len(stage.ben.messages(stage.ben.im)) == count)
        assert await heard(stage, stage.ben) == NO_CASE
    assert await stage.log.cases.counts() == {CaseStatus.DELIVERED: 1}
    assert await stage.log.labels.get(await stage.log.cases.get(1), stage.ben.id) is None


async def test_a_window_does_not_lead_into_a_channel_of_others(
    stage: Stage, channel: Channel
) -> None:
    before = len(channel.messages)
    texts = {ids.BLOCK_QUESTION: QUESTION, ids.BLOCK_RESPONSE: ANSWER}
    sent = await stage.slack.settled(
        submit(stage, stage.ben, ids.VIEW_TEXTS, json.dumps({"channel_id": channel.id}), **texts)
    )
    assert "You have left the channel" in sent.response["errors"][ids.BLOCK_RESPONSE]
    assert (len(channel.messages), await stage.log.cases.counts()) == (
        before,
        {CaseStatus.DELIVERED: 1},
    )


async def test_nothing_is_done_if_slack_does_not_say_who_is_in_a_channel(
    stage: Stage, channel: Channel
) -> None:
    stage.slack.fail("users.conversations", error="missing_scope")
    click(stage, stage.ben, ids.ACTION_AGAIN, "1")
    assert await heard(stage, stage.ben) == unsure_of_membership(MembershipError("missing_scope"))
    assert await stage.log.cases.counts() == {CaseStatus.DELIVERED: 1}


async def test_a_button_that_is_left_over_does_not_read_a_channel_after_its_person_has_left(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    await score_in_leads(stage)
    stage.ann.invite(LEADS, "ben")
    stage.ann.leave(LEADS)
    for action_id in (ids.ACTION_WRONG_QUESTION, ids.ACTION_AGAIN):
        await stage.slack.settled(click(stage, stage.ann, action_id, "1"))
    await stage.slack.settled(
        submit(stage, stage.ann, ids.VIEW_CORRECT, '{"case_id": 1}', question="Why?")
    )
    assert stage.ann.view is None
    assert [message.text for message in stage.ann.ephemerals(CHANNEL)] == [NO_CASE, NO_CASE]
    assert await stage.log.cases.counts() == {CaseStatus.DELIVERED: 1}


async def requesters(stage: Stage) -> list[str]:
    return [case.requester_name for case in await newest(stage.log, 100)]


async def blocked_verdict(stage: Stage) -> Message:
    """A reply of which ann alone was told the score, since Slack did not let the app reply."""
    _, answer = stage.ask_and_answer()
    stage.slack.fail("chat.postMessage", error="restricted_action")
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    assert (await stage.reaches(1, CaseStatus.DELIVERED)).blocked_by == "restricted_action"
    await stage.told(stage.ann)
    return answer


async def test_a_verdict_that_slack_did_not_let_through_is_not_shown_to_the_next_who_asks(
    stage: Stage,
) -> None:
    answer = await blocked_verdict(stage)
    await stage.slack.settled(stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(2, CaseStatus.DELIVERED)
    assert (await requesters(stage), len(stage.model.requests)) == (["ann", "ben"], 2)


@pytest.mark.parametrize(("own", "public"), [(Visibility.ME, 1), (None, 3)])
async def test_a_new_score_on_a_public_verdict_follows_the_pressers_setting(
    stage: Stage, own: Visibility | None, public: int
) -> None:
    stage.model.script("I cannot say.")
    parent, answer = stage.ask_and_answer(opening="Hello.")
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    verdict = await stage.verdict(parent)
    await save_visibility(stage.log, stage.slack.workspace.team_id, stage.ben.id, own)
    await stage.slack.settled(stage.ben.click(verdict, ids.ACTION_AGAIN))
    await stage.reaches(2, CaseStatus.DELIVERED)
    stage.ben.click(stage.ours()[-1], ids.ACTION_WRONG_QUESTION)
    await stage.modal(stage.ben)
    await stage.slack.settled(stage.ben.submit({ids.BLOCK_QUESTION: "Why?"}))
    await stage.reaches(3, CaseStatus.DELIVERED)
    await stage.verdict(parent, public)


async def test_a_person_who_has_just_left_a_channel_does_not_read_there_by_link(
    stage: Stage, channel: Channel
) -> None:
    stage.ann.invite(LEADS, "ben")
    messages = list(channel.messages.values())
    link = stage.slack.workspace.permalink(channel.id, messages[1].ts, messages[0].ts)
    stage.ben.command(CHANNEL, ids.COMMAND, link)
    assert "Scored before: *4 of 5*" in shown(await stage.told(stage.ben))
    stage.ben.leave(LEADS)
    stage.ben.command(CHANNEL, ids.COMMAND, link)
    assert (await stage.told(stage.ben, count=2)).text == NOT_IN_BOTH


async def disagree(stage: Stage, verdict: Message, score: str = "1") -> Delivery:
    """Ben opens the window for his own score under a verdict, and submits it."""
    from bot.features.labels.ids import BLOCK_SCORE

    stage.ben.click(verdict, ids.ACTION_DISAGREE)
    await stage.modal(stage.ben)
    return await stage.slack.settled(stage.ben.submit({BLOCK_SCORE: score}))


async def score_in(stage: Stage, channel: Channel) -> Message:
    """The public verdict, case 1, on a reply in a channel of ann's."""
    question = stage.ann.post(channel.id, QUESTION)
    answer = stage.helper.post(channel.id, ANSWER, thread_ts=question.ts)
    await stage.slack.settled(stage.ann.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(1, CaseStatus.DELIVERED)
    return stage.ann.thread(channel.id, question.ts)[-1]


async def label_of_ben(stage: Stage) -> int | None:
    label = await stage.log.labels.get(await stage.log.cases.get(1), stage.ben.id)
    return label.score if label else None


@pytest.mark.needs("labels")
async def test_a_window_still_works_after_the_app_leaves_or_the_channel_is_archived(
    stage: Stage,
) -> None:
    workspace = stage.slack.workspace
    members = [stage.ann.user, stage.ben.user, stage.helper.user, workspace.bot]
    channel = workspace.add_channel(LEADS, members, is_private=True)
    verdict = await score_in(stage, channel)
    channel.members.remove(workspace.bot.id)
    await disagree(stage, verdict)
    assert await label_of_ben(stage) == 1
    channel.members.append(workspace.bot.id)
    channel.is_archived = True
    await disagree(stage, verdict, "2")
    assert await label_of_ben(stage) == 2


@pytest.mark.needs("labels")
async def test_a_window_does_not_work_after_its_person_leaves_a_group(stage: Stage) -> None:
    from bot.features.labels.ids import BLOCK_SCORE

    workspace = stage.slack.workspace
    channel = workspace.add_group(
        [stage.ann.user, stage.ben.user, stage.helper.user, workspace.bot]
    )
    await score_in(stage, channel)
    for action_id, chosen in (
        (ids.ACTION_LABEL, {BLOCK_SCORE: "1"}),
        (ids.ACTION_WRONG_QUESTION, {ids.BLOCK_QUESTION: "Why?"}),
    ):
        await stage.slack.settled(click(stage, stage.ben, action_id, "1", channel.id))
        await stage.modal(stage.ben)
        stage.ben.leave(channel.id)
        await stage.slack.settled(stage.ben.submit(chosen))
        assert await heard(stage, stage.ben) == NO_CASE
        stage.ann.invite(channel.id, "ben")
    assert await label_of_ben(stage) is None
    assert await stage.log.cases.counts() == {CaseStatus.DELIVERED: 1}


async def test_ones_own_verdict_in_a_channel_that_one_only_looks_at_can_be_corrected(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    workspace = stage.slack.workspace
    channel = workspace.add_channel("open", [stage.ann.user, stage.helper.user, workspace.bot])
    question = stage.ann.post(channel.id, "Hello.")
    stage.ann.post(channel.id, "Another.", thread_ts=question.ts)
    stage.helper.post(channel.id, "One moment.", thread_ts=question.ts)
    stage.ann.post(channel.id, QUESTION, thread_ts=question.ts)
    answer = stage.helper.post(channel.id, ANSWER, thread_ts=question.ts)
    await stage.slack.settled(stage.ben.shortcut(ids.SHORTCUT_SCORE_REPLY, answer))
    await stage.reaches(1, CaseStatus.DELIVERED)
    for number in (2, 3):
        await stage.correct(stage.ben, stage.ben.ephemerals(channel.id)[-1], f"Why, {number}?")
        await stage.reaches(number, CaseStatus.DELIVERED)
    assert len(stage.ben.ephemerals(channel.id)) == 3
    # Elsewhere, too: the same button in their messages with the app.
    await stage.slack.settled(click(stage, stage.ben, ids.ACTION_WRONG_QUESTION, "1", stage.ann.im))
    assert (await stage.modal(stage.ben)).body["callback_id"] == ids.VIEW_CORRECT
