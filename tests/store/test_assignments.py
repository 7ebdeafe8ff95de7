"""Blind labels in the store: which cases are drawn, for whom, with what probability, and how a
label is recorded.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from bot.domain.case import CaseStatus, Part, Visibility
from bot.domain.label import Label, Outcome
from bot.store import Store
from bot.store.assignments import Assignments, DrawnCase, NotRecordedError, answer_of
from bot.store.labels import LabelBudget, LabelDraw, LabelDraws
from bot.store.schema import assignments, cases, contradicted, labels
from judge import Turn
from tests.cases import THURSDAY, a_turn, add, judged

WEEK = timedelta(weeks=1)
ANN = "U-ann"
BEN = "U-ben"
CARA = "U-cara"


@pytest.fixture
async def log(database_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(database_url)
    opened.assignments = at(opened, timedelta(0))
    yield opened
    await opened.close()


async def change(log: Store, **columns: Any) -> None:
    await log.database.execute(update(cases).values(columns))


async def drawn(log: Store, user_id: str = ANN, *channels: str) -> DrawnCase | None:
    return await log.assignments.draw("T1", user_id, channels or ["C1"])


async def label(log: Store, user_id: str = ANN, score: int = 3) -> int:
    """The number of the next case, once the person has labelled it."""
    shown = await drawn(log, user_id)
    await log.assignments.record("T1", user_id, shown, Label(score, None))
    return shown.id


async def recorded(log: Store) -> list[tuple[Any, ...]]:
    names = ("case_id", "user_id", "score", "is_blind", "probability")
    query = select(*(labels.c[name] for name in names)).order_by(labels.c.case_id, labels.c.user_id)
    return [tuple(row) for row in await log.database.all(query)]


async def test_a_case_that_was_shown_takes_a_blind_label_with_its_probability(log: Store) -> None:
    (number,) = await add(log)
    assert await label(log) == number
    assert await recorded(log) == [(number, ANN, 3, True, 1.0)]
    assert await log.labels.get(await log.cases.get(number), ANN) == Label(3, None, is_blind=True)
    assert await drawn(log) is None


@pytest.mark.on("sqlite")
async def test_a_case_that_was_not_shown_or_was_answered_takes_no_label(log: Store) -> None:
    await add(log, 2)
    shown = await drawn(log)
    assert await log.assignments.shown("T1", ANN, 3 - shown.id) is None
    await refuses(log, BEN, shown)
    await log.assignments.record("T1", ANN, shown, Label(3, None))
    await refuses(log, ANN, shown)
    assert [row[:3] for row in await recorded(log)] == [(shown.id, ANN, 3)]


async def refuses(log: Store, user_id: str, shown: DrawnCase) -> None:
    with pytest.raises(NotRecordedError):
        await log.assignments.record("T1", user_id, shown, Label(1, None))


async def test_a_person_who_was_told_a_score_leaves_the_case_to_others(log: Store) -> None:
    (number,) = await add(log)
    shown = await drawn(log)
    told = await log.assignments.note_told("T1", [number], ANN)
    assert await drawn(log) is None
    await log.assignments.take_back("T1", told, ANN)
    assert await drawn(log) == shown
    await log.assignments.note_told("T1", [number], ANN)
    assert await label(log, BEN) == number
    await log.assignments.note_told("T1", [number], BEN)
    assert await recorded(log) == [(number, BEN, 3, True, 1.0)]


@pytest.mark.on("sqlite")
async def test_a_case_that_was_only_closed_comes_again_before_one_that_nobody_has(
    log: Store,
) -> None:
    await add(log, 2)
    closed = await drawn(log)
    other = await drawn(log, BEN)
    await pass_over(log, BEN, other.id)
    assert await label(log, BEN) == closed.id
    assert await drawn(log) == closed


NOT_SHOWN: list[dict[str, Any]] = [
    {"requester_id": ANN},
    {"author_id": ANN},
    {"question_author_id": ANN},
    {"score": None, "unscored_reason": "no_score"},
    {"status": CaseStatus.JUDGED},
    {"visibility": Visibility.ME},
    {"response": None},
    {"response": "x" * 80_001},
    {"edited_at": THURSDAY},
    {"deleted_at": THURSDAY},
    {"forgotten_at": THURSDAY},
    {"judged_at": THURSDAY - 4 * WEEK},
    {"team_id": "T2"},
    {"channel_id": "C2"},
]


@pytest.mark.on("sqlite")
async def test_only_a_public_scored_case_of_others_with_texts_is_shown(log: Store) -> None:
    for number, changes in enumerate(NOT_SHOWN):
        await add(log, key=str(number), **changes)
    found = await log.assignments.waiting("T1", ANN, ["C1"])
    assert found is None, NOT_SHOWN[found.id - 1]


@pytest.mark.on("sqlite")
async def test_a_reply_whose_score_somebody_has_seen_is_not_shown_to_them(log: Store) -> None:
    await add(log, message_ts="1.1", requester_id=ANN, visibility=Visibility.ME)
    (earlier,) = await add(log, message_ts="1.1", key="b")
    await log.labels.put(await log.cases.get(earlier), BEN, Label(4, None))
    (newer,) = await add(log, message_ts="1.1", key="c", attempt=2)
    assert await drawn(log, ANN) is None
    assert await drawn(log, BEN) is None
    assert (await drawn(log, CARA)).id == newer


@pytest.mark.on("sqlite")
async def test_a_case_that_was_edited_or_labelled_in_the_thread_meanwhile_takes_no_blind_label(
    log: Store,
) -> None:
    (number,) = await add(log)
    shown = await drawn(log)
    await change(log, edited_at=THURSDAY)
    await refuses(log, ANN, shown)
    await change(log, edited_at=None)
    await log.labels.put(await log.cases.get(number), ANN, Label(4, None))
    await refuses(log, ANN, shown)
    assert await recorded(log) == [(number, ANN, 4, False, None)]


@pytest.mark.on("sqlite")
async def test_a_reply_for_two_goes_to_a_second_person_first_and_to_a_third_last(
    log: Store,
) -> None:
    await add(log, 18)
    (sample,) = await samples(log)
    are_for_two = select(cases.c.id).where(sample.is_for_two())
    for_two = {*await log.database.values(are_for_two)}
    ann = {await label(log, ANN) for _ in range(9)}
    shared = ann & for_two
    assert len(shared) >= 2
    ben = [await label(log, BEN) for _ in range(len(shared) + 2)]
    assert {*ben[: len(shared)]} == shared
    assert not {*ben[len(shared) :]} & ann
    cara = {await label(log, CARA) for _ in range(3)}
    assert not cara & ann & {*ben}


@pytest.mark.on("sqlite")
async def test_a_case_is_held_for_an_hour_and_no_longer(log: Store) -> None:
    await add(log, 2)
    first = await drawn(log, ANN)
    other = await drawn(log, BEN)
    assert first.id != other.id
    await pass_over(log, BEN, other.id)
    for minutes, shown in ((59, other), (61, first)):
        later = at(log, timedelta(minutes=minutes))
        assert await later.draw("T1", f"U-{minutes}", ["C1"]) == shown
        await pass_over(log, f"U-{minutes}", shown.id)


def at(log: Store, later: timedelta) -> Assignments:
    return Assignments(log.database, keeps_text=True, clock=lambda: THURSDAY + later)


async def budget(log: Store, number: int) -> None:
    await log.channels.save("T1", "C1", "U1", labels_per_week=number)


async def test_a_channel_takes_no_more_labels_a_week_than_it_wants(log: Store) -> None:
    await budget(log, 2)
    await add(log, 2)
    shown = {user_id: await drawn(log, user_id) for user_id in (ANN, BEN, CARA)}
    recording = [
        log.assignments.record("T1", user_id, each, Label(3, None))
        for user_id, each in shown.items()
    ]
    told = await asyncio.gather(*recording, return_exceptions=True)
    assert [type(each) for each in told if each] == [NotRecordedError]
    assert len(await recorded(log)) == 2
    assert await drawn(log, ANN) is None
    assert await at(log, WEEK).draw("T1", "U-dan", ["C1"])


@pytest.mark.on("sqlite")
async def test_labels_given_in_threads_do_not_count_as_wanted_ones(log: Store) -> None:
    (number, _) = await add(log, 2)
    await log.labels.put(await log.cases.get(number), BEN, Label(4, None))
    await label(log, ANN)
    await log.database.execute(update(labels).values(created_at=THURSDAY))
    assert await log.assignments.budget("T1", "C1") == LabelBudget(used=1)


async def samples(log: Store) -> Sequence[LabelDraw]:
    """What is drawn from the channel."""
    budgets = {"C1": await log.assignments.budget("T1", "C1")}
    return await LabelDraws(log.database).of("T1", budgets, THURSDAY)


async def in_sample(log: Store) -> dict[int, float]:
    """The probabilities of all cases that are drawn."""
    (sample,) = await samples(log)
    query = select(cases.c.id, sample.probability().label("probability"))
    rows = await log.database.all(query.where(sample.has_drawn()))
    return {row.id: row.probability for row in rows}


@pytest.mark.on("sqlite")
async def test_the_share_of_a_weeks_cases_follows_from_the_week_before(log: Store) -> None:
    await add(log, 400, THURSDAY - WEEK)
    await add(log, 200)
    found = await in_sample(log)
    assert {*found.values()} == {20 / 400}
    this_week = [number for number in found if number > 400]
    # 400 and 200 cases at 0.05: 20 and 10 on average, with standard deviations of 4.4 and 3.1.
    assert 4 <= len(this_week) <= 20
    assert 7 <= len(found) - len(this_week) <= 33


@pytest.mark.on("sqlite")
async def test_a_weeks_probability_is_of_its_own_cases_at_the_first_draw(log: Store) -> None:
    await add(log, 40, THURSDAY)
    assert await drawn(log)
    await budget(log, 100)
    await add(log, 20, THURSDAY)
    assert {*(await in_sample(log)).values()} == {20 / 40}


@pytest.mark.on("sqlite")
async def test_what_askers_contradict_is_drawn_four_times_as_often(log: Store) -> None:
    await add(log, 400, THURSDAY)  # 20 / 400: one of twenty, or of five
    marked = [{"team_id": "T1", "case_id": number} for number in range(301, 401)]
    await log.database.execute(insert(contradicted).values(marked))
    found = await in_sample(log)
    often = [number for number in found if number > 300]
    assert {found.pop(number) for number in often} == {4 * 20 / 400}
    assert {*found.values()} == {20 / 400}
    # 20 of 100 and 15 of 300 on average, with standard deviations of 4 and 3.8.
    assert 8 <= len(often) <= 32
    assert 4 <= len(found) <= 27
    shown = await drawn(log)
    noted = await log.database.value(select(assignments.c.probability))
    assert noted == (4 if shown.id > 300 else 1) * 20 / 400
    # What is drawn more often does not fix the week's probability.
    assert {*(await in_sample(log)).values()} == {4 * 20 / 400, 20 / 400}


async def pass_over(log: Store, user_id: str, case_id: int) -> None:
    await log.database.execute(answer_of("T1", user_id, case_id, Outcome.SKIPPED))


async def test_drawn_cases_of_a_busy_and_a_quiet_week_are_mixed_evenly(log: Store) -> None:
    quiet = (THURSDAY - 2 * WEEK, 1.0)
    busy = (THURSDAY - WEEK, 0.1)
    await add(log, 200, quiet[0])
    await add(log, 2000, busy[0])
    sample = LabelDraw("T1", "C1", [busy, quiet])
    columns = cases.c.id, sample.position().label("position"), sample.is_for_two().label("for_two")
    rows = await log.database.all(select(*columns).where(sample.has_drawn()))
    assert all(0 <= row.position < 1 for row in rows)
    for is_quiet in (True, False):
        found = [row.position < 0.5 for row in rows if (row.id <= 200) == is_quiet]
        assert 0.36 < sum(found) / len(found) < 0.64  # four standard deviations of 200
    # A fifth of 400 is 80, with a standard deviation of 8.
    assert 48 <= sum(row.for_two for row in rows) <= 112


@pytest.mark.on("sqlite")
async def test_what_was_said_before_is_shown_with_a_case(log: Store) -> None:
    turns = (a_turn(Part.CONVERSATION, "0.1", "Hello."),)
    await judged(log, "k1", turns=turns, messages_before=1, message_ts="1.1")
    await change(log, status=CaseStatus.DELIVERED, judged_at=THURSDAY)
    assert (await drawn(log)).conversation == (Turn("Person 1", "Hello."),)
