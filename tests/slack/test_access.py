"""A case is for its requester, and for those who can see it in a channel; to everybody else it is
not there.
"""

import json
from typing import Any

import pytest

from bot.domain.case import CaseStatus
from bot.pipeline.text import NO_CASE, unsure_of_membership
from bot.slack import ids
from bot.slack.members import MembershipError
from pocket_slack import Channel, Delivery, Message, Person, payloads
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, shown

LEADS = "leads"
SECRET = "What will the new price be?"


@pytest.fixture
async def channel(stage: Stage) -> Channel:
    """A private channel of ann's, with a reply that she had scored as case 1."""
    return await score_in_leads(stage)


async def score_in_leads(stage: Stage) -> Channel:
    workspace = stage.workspace
    members = [stage.ann.user, stage.helper.user, workspace.bot]
    channel = workspace.add_channel(LEADS, members, is_private=True)
    question = stage.ann.post(LEADS, SECRET)
    answer = stage.helper.post(LEADS, "Nine euros.", thread_ts=question.ts)
    await stage.score(answer)
    await stage.reaches(1, CaseStatus.DELIVERED)
    return channel


def click(
    stage: Stage, person: Person, action_id: str, value: str, where: str = CHANNEL
) -> Delivery:
    """A click on a button that names whatever it names, in a message of a channel."""
    workspace = stage.workspace
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
    workspace = stage.workspace
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


@pytest.mark.needs("rubrics")
async def test_what_is_of_a_channel_says_so_in_a_direct_message(stage: Stage) -> None:
    stage.ann.command(stage.ann.im, ids.COMMAND, "rubric")
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
    clicks = [(action_id, "1") for action_id in CLICKS] + [(ids.ACTION_AGAIN, "9" * 20)]
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
    windows += [(ids.VIEW_CORRECT, "abc", {"question": "Why?"})]
    for view, remembered, chosen in windows:
        await stage.slack.settled(submit(stage, stage.ben, view, remembered, **chosen))
    told = [message.text for message in stage.ben.messages(stage.ben.im)]
    assert told == [NO_CASE] * len(windows)
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
    stage = await open_stage(verdict_visibility="me")
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
