"""Bad input gets one plain sentence and a case number, for the person who asked alone."""

from bot.domain.blocker import NO_TEXT, OWN_MESSAGE
from bot.slack import ids
from tests.gestures import link, say, scored
from tests.stage import CHANNEL, QUESTION, Stage, shown


def told(stage: Stage) -> str:
    return "\n".join(shown(message) for message in stage.ann.ephemerals(CHANNEL))


async def test_what_cannot_be_scored_is_refused_with_a_case_number_for_the_person_alone(
    stage: Stage,
) -> None:
    _, picture = stage.ask_and_answer(answer="", files=[{"id": "F1", "name": "x.png"}])
    _, long = stage.ask_and_answer(answer="word " * 20_001)
    _, deleted = stage.ask_and_answer()
    stage.helper.delete(deleted)
    too_long = "The response is 100,004 characters long, and the limit is 100,000: shorten it"
    for number, (asked, why) in enumerate(
        [(picture, NO_TEXT), (long, too_long), (link(stage, deleted), "message was deleted")], 1
    ):
        if isinstance(asked, str):
            stage.ann.command(CHANNEL, ids.COMMAND, asked)
        else:
            await stage.score(asked)
        await stage.slack.until(lambda number=number: f"case {number}" in told(stage))
        assert why in told(stage)
        assert (await stage.log.cases.verdict(number)).score is None
    assert stage.ours() == []
    assert stage.ben.ephemerals(CHANNEL) == []
    assert stage.model.requests == []


async def test_texts_with_nothing_to_judge_make_no_case(stage: Stage) -> None:
    said = (await say(stage, f"{QUESTION} |")).text
    assert "response is empty" in said
    assert said.endswith("`/judge question | response` scores two texts.")
    assert await stage.cases() == 0


async def test_our_own_verdict_cannot_be_scored_by_the_shortcut_or_a_link(stage: Stage) -> None:
    (_, first), (_, second) = await scored(stage), await scored(stage)
    await stage.score(first)
    await say(stage, link(stage, second))
    await stage.told(stage.ann, 3)  # also that the link was taken in
    assert sum(OWN_MESSAGE in each.text for each in stage.ann.ephemerals(CHANNEL)) == 2
    assert len(stage.model.requests) == 2
