"""What `/judge watch` asks for, which replies it draws, and for how many the scored ones stand."""

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from bot.domain.watch import Coverage, ReplyOutcome, Shows
from bot.features.watch.grammar import parse_watch
from bot.features.watch.orders import changed
from bot.features.watch.reply_queries import draws
from bot.figures.quality import as_people, to_quality
from bot.slack.invocation import Invocation
from bot.store.figures import CountedCase
from judge.evaluation.selection import UNLIKE
from judge.evaluation.stats import MeanEstimate
from judge.scoring.rubric import Scale
from tests.cases import NOW
from tests.features.watch.watching import WATCH

LATER = NOW + timedelta(days=1)


def test_a_share_is_drawn_a_larger_one_holds_it_and_channels_and_installations_differ() -> None:
    times = [f"{1795339203 + number}.{number:06}" for number in range(5000)]

    def drawn(share: float, key: bytes = b"key", channel_id: str = "C1") -> set[str]:
        watch = replace(WATCH, share=share, channel_id=channel_id)
        return {ts for ts in times if draws(watch, ts, key)}

    for share in (1.0, 0.5, 0.2, 0.01):
        deviation = (5000 * share * (1 - share)) ** 0.5
        assert len(drawn(share)) == pytest.approx(5000 * share, abs=4 * deviation)
    assert drawn(0.2) < drawn(0.5)
    assert drawn(0.2) not in (drawn(0.2, b"another"), drawn(0.2, channel_id="C2"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("", None, False)),
        ("@helper", ("helper", {}, False)),
        (
            "@Help desk bot all 20 a day alert low",
            ("Help desk bot", {"share": 1.0, "per_day": 20, "low": True}, False),
        ),
        (
            "@helper everywhere 1 IN 4 Reaction alert HERE alert low off",
            (
                "helper",
                {"share": 0.25, "shows": Shows.REACTION, "alert": "here", "low": False},
                True,
            ),
        ),
        ("@helper off", ("helper", None, False)),
        ("Off  @Help desk bot everywhere", ("Help desk bot", None, True)),
        ("@helper 0 a day", ("helper 0 a day", {}, False)),
    ],
)
def test_what_is_typed_is_understood(text: str, expected: Any) -> None:
    assert parse_watch(text) == expected


@pytest.mark.parametrize("text", ["helper", "@", "off helper", "@a @b"])
def test_a_text_that_is_no_request_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match=f"I do not know '{text}': I watch one assistant at a"):
        parse_watch(text)


@pytest.mark.parametrize(
    ("alerts_to", "low_since", "changes", "hear", "low_now"),
    [
        (("U2",), None, {"share": 0.2}, ("U2",), None),
        ((), None, {"alert": "here"}, ("C1",), None),
        ((), NOW, {"alert": "me"}, ("U9",), NOW),
        (("U2",), NOW, {"alert": "off"}, (), None),
        ((), None, {"low": True}, ("U9",), LATER),
        (("U2",), NOW, {"low": True}, ("U2",), NOW),
        (("U2",), NOW, {"low": False}, ("U2",), None),
    ],
)
def test_what_is_not_named_stays_as_it_was(
    alerts_to: Any, low_since: Any, changes: dict[str, Any], hear: Any, low_now: Any
) -> None:
    watch = replace(WATCH, share=0.5, except_in=("C1", "C2"))
    earlier = replace(watch, alerts_to=alerts_to, low_since=low_since)
    asker = Invocation("T1", "C1", "U9", "ann", is_foreign=False)
    expected = replace(watch, share=changes.get("share", 0.5), except_in=("C2",))
    expected = replace(expected, alerts_to=hear, low_since=low_now)
    assert changed(earlier, asker, changes, LATER) == expected


THREADS = count()


def drawn(
    number: int,
    score: int,
    share: float = 1.0,
    day: str = "",
    *,
    week: int = 0,
    given: str | None = None,
) -> list[CountedCase]:
    """So many watched cases with one score, each in a thread of its own."""
    case = CountedCase(0, score, week, week, "", share, day, given)
    return [case._replace(thread=f"{next(THREADS)}") for _ in range(number)]


def mean_of(rows: list[CountedCase], coverage: dict[str, Coverage] | None = None) -> MeanEstimate:
    quality = to_quality(rows, Scale(0, 5), coverage)
    assert quality
    return quality.mean


def test_a_day_over_its_limit_weighs_by_all_its_replies() -> None:
    # 10 replies a day, half of them drawn: 5 scored with 5 on one day, 1 of 5 with 0 on the other,
    # the rest over.
    rows = [*drawn(5, 5, 0.5, "2026-11-21"), *drawn(1, 0, 0.5, "2026-11-22")]
    coverage = {
        "2026-11-21": Coverage({ReplyOutcome.TAKEN: 5}),
        "2026-11-22": Coverage(
            {ReplyOutcome.TAKEN: 1, ReplyOutcome.OVER: 3, ReplyOutcome.MISSED: 1}
        ),
    }
    assert mean_of(rows, coverage).judge.mean == pytest.approx(2.5)
    assert mean_of(rows).judge.mean == pytest.approx(25 / 6)


def test_a_changed_share_weighs_by_the_probability_of_each_draw() -> None:
    rows = [*drawn(10, 5, 1.0), *drawn(2, 0, 0.2)]
    assert mean_of(rows).judge.mean == pytest.approx(2.5)


def test_a_label_stands_for_its_week_however_many_were_given_there() -> None:
    # Two weeks of ten replies, all scored 3: five labels of 4 in one, a single 1 in the other. (4 +
    # 1) / 2.
    earlier = [*drawn(5, 3, week=1, given="U1 4"), *drawn(5, 3, week=1)]
    rows = [*earlier, *drawn(1, 3, given="U1 1"), *drawn(9, 3)]
    corrected = mean_of(rows).corrected
    assert corrected
    assert corrected.mean == pytest.approx(2.5)


@pytest.mark.parametrize(("unlabelled", "is_corrected"), [(4, True), (25, False)])
def test_labels_do_not_speak_for_a_week_without_any_unless_it_has_just_begun(
    unlabelled: int, is_corrected: bool
) -> None:
    rows = [*drawn(25, 3, week=1, given="U1 4"), *drawn(unlabelled, 3)]
    quality = to_quality(rows, Scale(0, 5))
    assert (as_people(quality, "") != "") == is_corrected


@pytest.mark.parametrize(("bad", "good", "is_corrected"), [(13, 13, True), (24, 2, False)])
def test_labels_of_replies_that_were_chosen_by_quality_correct_nothing(
    bad: int, good: int, is_corrected: bool
) -> None:
    rows = [*drawn(bad, 1, given="U1 2"), *drawn(30 - bad, 1)]
    rows += [*drawn(good, 4, given="U1 4"), *drawn(30 - good, 4)]
    assert (UNLIKE in as_people(to_quality(rows, Scale(0, 5)), "this week")) != is_corrected


def test_labels_of_what_is_drawn_more_often_weigh_less() -> None:
    # 60 replies, half of them labelled with their score; 20 that askers contradict, all labelled
    # with 1: (60 * 4 + 20 * 1) / 80. The labels alone have a mean of 2.8.
    rows = [*drawn(30, 4, given="U1 4"), *drawn(30, 4)]
    rows += [case._replace(times_drawn=4) for case in drawn(20, 4, given="U1 1")]
    corrected = mean_of(rows).corrected
    assert corrected
    assert corrected.mean == pytest.approx(3.25)
