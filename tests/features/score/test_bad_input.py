"""Bad input gets one plain sentence and a case number, for the person who asked alone."""

from bot.domain.blocker import NO_TEXT, OWN_MESSAGE
from tests.gestures import link, say, scored
from tests.stage import CHANNEL, QUESTION, Stage, shown


async def test_what_cannot_be_scored_is_refused_with_a_case_number_for_the_person_alone(
    stage: Stage,
) -> None:
    too_long = "The response is 100,004 characters long, and the limit is 100,000: shorten it"
    picture = {"answer": "", "files": [{"id": "F1", "name": "x.png"}]}
    asked = (({"answer": "word " * 20_001}, too_long), (picture, NO_TEXT))
    for number, (content, why) in enumerate(asked, 1):
        await stage.score(stage.ask_and_answer(**content)[1])
        words = shown(await stage.told(stage.ann, number))
        assert why in words
        assert f"case {number}" in words
    _, deleted = stage.ask_and_answer()
    stage.helper.delete(deleted)
    await say(stage, link(stage, deleted))
    assert "message was deleted" in shown(await stage.told(stage.ann, 4))
    assert (stage.ours(), stage.model.requests) == ([], [])


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
