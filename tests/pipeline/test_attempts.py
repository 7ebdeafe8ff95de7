"""Who gets another attempt at a reply that was scored, by any of its messages, and whether it
counts.
"""

from bot.domain.attempt import is_of_use
from bot.domain.case import Exclusion, Visibility
from tests import cases
from tests.pipeline.test_verdict_text import a_case
from tests.stage import CHANNEL, QUESTION, Stage, StageFactory


async def test_a_persons_reply_is_scored_once_whichever_of_its_messages_somebody_else_chooses(
    open_stage: StageFactory,
) -> None:
    stage: Stage = await open_stage(score_people=True)
    parent = stage.ann.post(CHANNEL, QUESTION)
    first, last = (
        stage.ben.post(CHANNEL, words, thread_ts=parent.ts)
        for words in ("Run git reset.", "Your changes stay staged.")
    )
    await stage.score(first)
    await stage.verdict(parent)
    asked = len(stage.model.requests)
    stage.slack.workspace.add_user("carl")
    carl = stage.slack.person("carl")
    carl.join(CHANNEL)
    for count, chosen in enumerate((first, last), 1):
        await stage.score(chosen, carl)
        assert "Scored before" in (await stage.told(carl, count)).text
    assert len(stage.model.requests) == asked


async def test_an_edited_reply_counts_for_whoever_has_it_scored_again(stage: Stage) -> None:
    parent, answer = stage.ask_and_answer()
    await stage.score(answer)
    await stage.verdict(parent)
    stage.helper.edit(answer, "Run git reset --hard HEAD~1.")
    await stage.score(answer, stage.ben)
    await stage.verdict(parent, 2)
    again = await stage.log.cases.get(2)
    assert (again.attempt, again.excluded) == (2, None)


def test_a_case_is_of_use_to_its_requester_and_to_others_if_they_see_it_and_theirs_is_no_better() -> (
    None
):
    known = a_case(requester_id="U1")
    of_other = cases.a_case(requester_id="U2")
    beside = {"excluded": Exclusion.ANOTHER}
    for changes, case, is_it in (
        ({}, of_other, True),
        ({"visibility": Visibility.ME}, of_other, False),
        ({"visibility": Visibility.ME}, cases.a_case(requester_id="U1"), True),
        ({"blocked_by": "restricted_action"}, of_other, False),
        (beside, of_other, False),
        (beside, of_other.model_copy(update=beside), True),
    ):
        assert (changes, is_of_use(known.model_copy(update=changes), case)) == (changes, is_it)
