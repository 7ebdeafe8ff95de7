"""The message shortcut: from the click to the verdict in the thread and in the store."""

from bot.domain.case import CaseStatus
from bot.slack import ids
from tests.gestures import calls
from tests.stage import (
    ANSWER,
    CHANNEL,
    QUESTION,
    Stage,
    StageFactory,
    buttons,
    is_verdict,
    shown,
)


async def test_a_top_level_message_takes_the_message_before_by_somebody_else(stage: Stage) -> None:
    stage.ann.post(CHANNEL, "An older question?")
    stage.ann.post(CHANNEL, QUESTION)
    stage.helper.post(CHANNEL, "Let me think.")
    answer = stage.helper.post(CHANNEL, ANSWER)
    await stage.score(answer)
    words = shown(await stage.verdict(answer))
    assert "an earlier message" in words
    assert QUESTION in words
    span = calls(stage, "conversations.history")[0].data["args"]
    assert float(span["latest"]) - float(span["oldest"]) == 15 * 60


async def test_without_a_question_a_modal_asks_for_it(stage: Stage) -> None:
    answer = stage.helper.post(CHANNEL, ANSWER)
    await stage.score(answer)
    view = await stage.modal(stage.ann)
    assert ANSWER in shown(view)
    delivery = await stage.slack.settled(stage.ann.submit({ids.BLOCK_QUESTION: "   \n"}))
    assert ids.BLOCK_QUESTION in delivery.response["errors"]
    await stage.reaches(1, CaseStatus.ASKED)
    stage.ann.submit({ids.BLOCK_QUESTION: QUESTION})
    assert f"(as typed):\n{QUESTION}" in shown(await stage.verdict(answer))
    assert f"<response>{ANSWER}</response>" in stage.model.requests[0]["messages"][0]["content"]


async def test_a_modal_that_comes_too_late_becomes_a_button(stage: Stage) -> None:
    stage.slack.fail("views.open", error="expired_trigger_id")
    answer = stage.helper.post(CHANNEL, ANSWER)
    await stage.score(answer)
    asked = await stage.told(stage.ann)
    assert buttons(asked) == [ids.ACTION_ASK]
    stage.ann.click(asked, ids.ACTION_ASK)
    await stage.fill_in(stage.ann, {ids.BLOCK_QUESTION: QUESTION})
    assert is_verdict(await stage.verdict(answer))


async def test_two_people_who_press_score_again_get_one_verdict(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    await stage.score(answer)
    await stage.verdict(parent)
    stage.workspace.add_user("cat")
    cat = stage.slack.person("cat")
    cat.join(CHANNEL)
    pressing = (stage.ben, cat)  # whoever asked first gets one that counts, beside theirs
    for person in pressing:
        person.shortcut(ids.SHORTCUT_SCORE_REPLY, answer)
        await stage.told(person)
    for person in pressing:
        person.click(person.ephemerals(CHANNEL)[0], ids.ACTION_AGAIN)
    await stage.verdict(parent, count=2)
    assert len(stage.model.requests) == 2


async def test_invited_after_it_had_to_ask_the_bot_finds_the_question(
    open_stage: StageFactory,
) -> None:
    stage = await open_stage(is_member=False)
    _, answer = stage.ask_and_answer()
    await stage.score(answer)
    assert "I am not in this channel" in shown(await stage.modal(stage.ann))
    stage.ann.close()
    await stage.reaches(1, CaseStatus.ASKED)
    stage.ann.invite(CHANNEL, stage.workspace.bot.id)
    await stage.score(answer)
    case = await stage.reaches(1, CaseStatus.DELIVERED)
    assert (case.question, case.requester_name) == (QUESTION, "ann")
    assert len(stage.ours()) == 1
