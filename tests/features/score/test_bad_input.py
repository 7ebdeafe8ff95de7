"""Bad input gets one plain sentence and a case number, for the person who asked alone."""

from bot.domain.blocker import OWN_MESSAGE
from bot.slack import ids
from pocket_slack import Message
from tests.gestures import link, scored
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, shown


async def refusal(stage: Stage, part: str, count: int = 1) -> Message:
    """The refusal that ann alone reads; nobody else sees anything, and no model is asked."""
    await stage.told(stage.ann, count)
    [told] = [message for message in stage.ann.ephemerals(CHANNEL) if part in message.text]
    assert "case 1" in shown(told)
    assert stage.ours() == []
    assert stage.ben.ephemerals(CHANNEL) == []
    assert stage.model.requests == []
    assert (await stage.log.cases.verdict(1)).score is None
    return told


async def test_a_message_without_text_cannot_be_scored(stage: Stage) -> None:
    _, answer = stage.ask_and_answer(answer="", files=[{"id": "F1", "name": "x.png"}])
    await stage.score(answer)
    await refusal(stage, "only a file")


async def test_texts_with_nothing_to_judge_make_no_case(stage: Stage) -> None:
    texts = {f"| {ANSWER}": "question is empty", f"{QUESTION} |": "response is empty"}
    for count, (text, part) in enumerate(
        (texts | {f"{QUESTION} | {QUESTION}": "the question itself"}).items(), 1
    ):
        stage.ann.command(CHANNEL, ids.COMMAND, text)
        said = (await stage.told(stage.ann, count)).text
        assert part in said
        assert "`/judge question | response` scores two texts." in said
    assert await stage.cases() == 0


async def test_a_reply_over_the_limit_is_refused(stage: Stage) -> None:
    _, answer = stage.ask_and_answer(answer="word " * 20_001)
    await stage.score(answer)
    await refusal(
        stage, "The response is 100,004 characters long, and the limit is 100,000: shorten it"
    )


async def test_a_deleted_message_is_refused(stage: Stage) -> None:
    _, answer = stage.ask_and_answer()
    stage.helper.delete(answer)
    stage.ann.command(CHANNEL, ids.COMMAND, link(stage, answer))
    await refusal(stage, "message was deleted", count=2)


async def test_a_link_from_another_workspace_is_refused(stage: Stage) -> None:
    stage.ann.command(
        CHANNEL, ids.COMMAND, "https://elsewhere.slack.com/archives/C0123ABC/p1700000000000100"
    )
    await refusal(stage, "another workspace (elsewhere.slack.com)", count=2)


async def test_our_own_verdict_cannot_be_scored_by_the_shortcut_or_a_link(stage: Stage) -> None:
    (_, first), (_, second) = await scored(stage), await scored(stage)
    await stage.score(first)
    stage.ann.command(CHANNEL, ids.COMMAND, link(stage, second))
    await stage.told(stage.ann, 3)  # also that the link was taken in
    assert sum(OWN_MESSAGE in each.text for each in stage.ann.ephemerals(CHANNEL)) == 2
    assert len(stage.model.requests) == 2
