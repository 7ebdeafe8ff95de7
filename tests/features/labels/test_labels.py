"""Labels: agree, disagree and one's own score, seen by nobody else, in the store once for each
person.
"""

import json
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from bot.domain.label import Label
from bot.features.labels import ids
from bot.features.labels.text import OWN_LABEL
from bot.pipeline.text import NO_CASE
from bot.slack import ids as slack_ids
from bot.slack.blocks import Block, fairness, section
from bot.slack.messenger import Post
from bot.store import Store
from bot.store.schema import cases, labels
from pocket_slack import Message, Person
from tests.cases import TONE, delivered, url
from tests.gestures import export, scored
from tests.stage import ANSWER, CHANNEL, QUESTION, Stage, StageFactory, buttons, shown


async def a_verdict(stage: Stage) -> Message:
    return await stage.verdict(stage.ask_for_score())


async def label_of(stage: Stage, user_id: str) -> Label | None:
    return await stage.log.labels.get(await stage.log.cases.get(1), user_id)


async def test_whoever_agrees_twice_is_told_twice_what_their_score_is(stage: Stage) -> None:
    verdict = await a_verdict(stage)
    for count in (1, 2):
        stage.ben.click(verdict, slack_ids.ACTION_AGREE)
        told = await stage.told(stage.ben, count)
        assert told.text.startswith("You agree. Your score for case 1 is 4 of 5. Press a button")
        assert told.thread_ts == verdict.thread_ts
        assert await label_of(stage, stage.ben.id) == Label(4, None)


def labels_of(message: Message) -> list[str]:
    """What is on the buttons *Fair* and *Not fair* of a message, as a screen reader says it."""
    elements = [each for block in message.blocks for each in block.get("elements", ())]
    return [each["accessibility_label"] for each in elements if "accessibility_label" in each]


@pytest.mark.parametrize("where", ["direct", "channel"])
async def test_the_buttons_of_a_listed_reply_show_what_people_have_chosen(
    stage: Stage, where: str
) -> None:
    await a_verdict(stage)
    channel_id = stage.ben.im if where == "direct" else stage.slack.workspace.channel(CHANNEL).id
    alert = await posted(stage, channel_id)
    mark = "✓" if where == "direct" else "(1)"
    stage.ben.click(alert, slack_ids.ACTION_FAIR)
    await stage.slack.until(lambda: labels_of(alert) == [f"Fair {mark}, reply", "Not fair, reply"])
    stage.ben.click(alert, slack_ids.ACTION_NOT_FAIR)
    await stage.fill_in(stage.ben, {ids.BLOCK_SCORE: "1"})
    await stage.slack.until(lambda: labels_of(alert) == ["Fair, reply", f"Not fair {mark}, reply"])
    assert "(it was 4)" in stage.ben.ephemerals(channel_id)[-1].text
    if where == "channel":
        stage.ann.click(alert, slack_ids.ACTION_NOT_FAIR)
        await stage.fill_in(stage.ann, {ids.BLOCK_SCORE: "2"})
        await stage.slack.until(lambda: "Not fair (2), reply" in labels_of(alert))


async def posted(stage: Stage, channel_id: str, *before: Block) -> Message:
    """A list with the first case, posted there."""
    post = Post("Low.", [*before, fairness(1, "reply")])
    message = await stage.services.messenger.post(channel_id, post)
    return stage.slack.workspace.channel(channel_id).messages[message.ts]


async def test_a_choice_in_a_direct_message_brings_back_no_words_and_no_choices_of_others(
    stage: Stage,
) -> None:
    verdict = await a_verdict(stage)
    await stage.slack.settled(stage.ann.click(verdict, slack_ids.ACTION_AGREE))
    quoted = section("Score 4\nA reason.") | {"block_id": f"{slack_ids.BLOCK_WORDS}1"}
    alert = await posted(stage, stage.ben.im, quoted)
    await stage.log.database.execute(update(cases).values(justification="", question=None))
    stage.ben.click(alert, slack_ids.ACTION_NOT_FAIR)
    await stage.fill_in(stage.ben, {ids.BLOCK_SCORE: "1"})
    await stage.slack.until(lambda: labels_of(alert) == ["Fair, reply", "Not fair ✓, reply"])
    assert "A reason." not in shown(alert)


async def test_a_person_cannot_label_their_own_reply(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(score_people=True)
    parent = stage.ann.post(CHANNEL, QUESTION)
    answer = stage.ben.post(CHANNEL, ANSWER, thread_ts=parent.ts)
    stage.ann.shortcut(slack_ids.SHORTCUT_SCORE_REPLY, answer)
    stage.ben.click(await stage.verdict(parent), slack_ids.ACTION_AGREE)
    assert (await stage.told(stage.ben)).text == OWN_LABEL
    assert await label_of(stage, stage.ben.id) is None


async def test_a_label_can_be_changed_stays_one_and_is_in_the_window_of_its_person_alone(
    stage: Stage,
) -> None:
    verdict = await a_verdict(stage)
    assert await filled_in(stage, stage.ben, verdict) is None
    values = {ids.BLOCK_SCORE: "1", ids.BLOCK_REASON: "Too short."}
    await stage.slack.settled(stage.ben.submit(values))
    told = await stage.told(stage.ben)
    assert told.text.startswith("Your score for case 1 is 1 of 5.")
    assert told.thread_ts == verdict.thread_ts
    assert await label_of(stage, stage.ben.id) == Label(1, "Too short.")
    assert await filled_in(stage, stage.ben, verdict) == "1"
    assert await filled_in(stage, stage.ann, verdict) is None
    stage.ben.click(verdict, slack_ids.ACTION_AGREE)
    assert "is 4 of 5 (it was 1)." in (await stage.told(stage.ben, count=2)).text
    assert await label_of(stage, stage.ben.id) == Label(4, None)
    assert await stage.log.database.value(select(func.count()).select_from(labels)) == 1
    # who agreed, and means another score
    assert await filled_in(stage, stage.ben, verdict) is None


async def filled_in(stage: Stage, person: Person, verdict: Message) -> str | None:
    """The score that the window of *Disagree* begins with."""
    if person.view:
        person.close()
    person.click(verdict, slack_ids.ACTION_DISAGREE)
    element = (await stage.modal(person)).body["blocks"][1]["element"]
    chosen = element.get("initial_option", {}).get("value")
    return element.get("initial_value", chosen)


async def test_an_unscored_verdict_takes_a_score_of_ones_own(stage: Stage) -> None:
    stage.model.script("I cannot say.")
    verdict = await a_verdict(stage)
    assert slack_ids.ACTION_AGREE not in buttons(verdict)
    stage.ben.click(verdict, slack_ids.ACTION_LABEL)
    await stage.fill_in(stage.ben, {ids.BLOCK_SCORE: "3"})
    assert (await stage.told(stage.ben)).text.startswith("Your score for case 1 is 3 of 5.")
    assert await label_of(stage, stage.ben.id) == Label(3, None)


async def test_a_score_on_a_scale_of_more_than_a_menu_holds_is_typed(
    open_stage: StageFactory, tmp_path: Path
) -> None:
    file = tmp_path / "percent.txt"
    file.write_text(TONE.replace("between 0 and 5", "between 0 and 100"))
    stage: Stage = await open_stage(judge_rubric=str(file))
    _, verdict = await scored(stage)
    assert await filled_in(stage, stage.ben, verdict) is None
    for score in ("101", "37.5"):
        await stage.slack.settled(stage.ben.submit({ids.BLOCK_SCORE: score}))
        assert stage.ben.view.errors == {ids.BLOCK_SCORE: "The scale goes from 0 to 100."}
    await stage.fill_in(stage.ben, {ids.BLOCK_SCORE: "37", ids.BLOCK_REASON: "Too short."})
    assert (await stage.told(stage.ben)).text.startswith("Your score for case 1 is 37 of 100.")
    assert await filled_in(stage, stage.ben, verdict) == "37"


async def test_only_the_requester_labels_a_private_verdict(open_stage: StageFactory) -> None:
    stage: Stage = await open_stage(verdict_visibility="me")
    stage.ask_for_score()
    verdict = await stage.told(stage.ann)
    stage.ben.click(verdict, slack_ids.ACTION_AGREE)
    assert (await stage.told(stage.ben)).text == NO_CASE
    stage.ann.click(verdict, slack_ids.ACTION_AGREE)
    assert "You agree" in (await stage.told(stage.ann, count=2)).text


@pytest.mark.usefixtures("log_file")
async def test_export_writes_texts_only_where_they_are_asked_for_and_kept(tmp_path: Path) -> None:
    async with await Store.open(url(tmp_path)) as log:
        await delivered(log)
    for options, has_texts in (((), False), (("--texts",), True)):
        _, out, _ = await export(tmp_path, *options)
        assert ("prompt" in json.loads(out)) is has_texts
    code, _, err = await export(tmp_path, "--texts", STORE_TEXT="none")
    assert code == 2
    assert err == "judge-bot: --texts: none are kept (STORE_TEXT=none); leave it out\n"
