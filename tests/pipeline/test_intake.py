"""Who can have a case now, and what it takes over from the one that it repeats."""

from dataclasses import replace
from datetime import datetime

import pytest

from bot.domain.blocker import RefusedError
from bot.domain.case import QuestionSource, Visibility
from bot.domain.limits import Limits, Policy
from bot.slack.invocation import Invocation
from bot.store import Store
from tests.cases import ANN, BEGUN_AT, a_case, delivered, held, save_visibility
from tests.services import services_of
from tests.tables import each

pytestmark = pytest.mark.on("sqlite")
BY_ANN = Invocation("T1", "C1", ANN, "ann", is_foreign=False)


@each(
    ("earlier", "own", "new"),
    [
        (Visibility.ME, Visibility.THREAD, Visibility.ME),
        (Visibility.THREAD, Visibility.ME, Visibility.ME),
        (Visibility.THREAD, None, Visibility.THREAD),
    ],
)
async def test_a_new_score_is_private_if_the_earlier_one_was_or_its_requester_has_chosen_so(
    log: Store, earlier: Visibility, own: Visibility | None, new: Visibility
) -> None:
    case = await delivered(log, str((earlier, own)), requester_id=ANN, visibility=earlier)
    await save_visibility(log, "T1", ANN, own)
    again = await services_of(log).requests.again(BY_ANN, case)
    assert again.visibility is new


@each(
    ("source", "ts", "edited_at", "kept"),
    [
        (QuestionSource.CHOSEN, "1.1", None, (None, QuestionSource.CHOSEN, "1.1")),
        (QuestionSource.PREVIOUS, "1.1", None, ("Why?", None, "1.1")),
        (QuestionSource.PREVIOUS, "1.1", BEGUN_AT, (None, None, None)),
        (QuestionSource.TYPED, None, BEGUN_AT, ("Why?", QuestionSource.TYPED, None)),
    ],
)
async def test_a_question_in_slack_is_read_again_and_a_typed_one_kept(
    log: Store,
    source: QuestionSource,
    ts: str | None,
    edited_at: datetime | None,
    kept: tuple[str | None, QuestionSource | None, str | None],
) -> None:
    case = await delivered(log, f"{source}{edited_at}", question_source=source, question_ts=ts)
    case = case.model_copy(update={"edited_at": edited_at})
    again = await services_of(log).requests.again(BY_ANN, case)
    assert (again.question, again.question_source, again.question_ts) == kept


async def test_a_case_that_waits_for_its_question_is_not_scored_where_scoring_is_off_by_now(
    log: Store,
) -> None:
    off = Policy(denied_channels=frozenset({"C1"}))
    intake = replace(services_of(log).intake, policy=off)
    asked = a_case(question=None, message_ts="1.1", requester_id=ANN)
    case, _ = await log.add(asked)
    await log.note_asked(await held(log, case))
    for attempt in (intake.answer(case, "Why?", BY_ANN), intake.take(asked, BY_ANN)):
        with pytest.raises(RefusedError, match="switched off"):
            await attempt
    assert (await log.cases.get(case.id)).question is None


async def test_beyond_the_limit_only_what_is_scored_already_is_looked_at(log: Store) -> None:
    await delivered(log, message_ts="1.1", requester_id=ANN)
    intake = replace(services_of(log).intake, limits=Limits(cases_per_user_per_hour=1))
    await intake.check_here(BY_ANN, "1.1")
    for ts in ("2.2", None):
        with pytest.raises(RefusedError, match="one score in the last hour"):
            await intake.check_here(BY_ANN, ts)
