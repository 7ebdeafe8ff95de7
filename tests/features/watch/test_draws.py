"""Which replies a watch draws, and for how many the scored ones stand."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from bot.domain.watch import Coverage, ReplyOutcome, Shows
from bot.features.watch.grammar import parse_watch
from bot.features.watch.reply_queries import draws
from bot.figures.quality import as_people, to_quality
from bot.store.figures import CountedCase
from judge.evaluation.selection import UNLIKE
from judge.scoring.rubric import Scale
from tests.features.watch.watching import WATCH

KEY = b"key"
NAMES = ["helper", "Help desk bot", "a | b", "1 in 5", "off"]


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2, 0.01])
def test_its_share_is_drawn_and_the_same_again(share: float) -> None:
    watch = replace(WATCH, share=share)
    times = [f"{1795339203 + number}.{number:06}" for number in range(20_000)]
    drawn = [ts for ts in times if draws(watch, ts, KEY)]
    assert len(drawn) == pytest.approx(
        20_000 * share, abs=4 * (20_000 * share * (1 - share)) ** 0.5
    )
    assert drawn == [ts for ts in times if draws(watch, ts, KEY)]


def test_a_larger_share_holds_the_smaller_and_channels_and_installations_differ() -> None:
    times = [f"{number}.000001" for number in range(1000)]
    fifth, half = (
        [ts for ts in times if draws(replace(WATCH, share=share), ts, KEY)] for share in (0.2, 0.5)
    )
    assert set(fifth) < set(half)
    assert fifth != [
        ts for ts in times if draws(replace(WATCH, share=0.2, channel_id="C2"), ts, KEY)
    ]
    assert fifth != [ts for ts in times if draws(replace(WATCH, share=0.2), ts, b"another")]


@pytest.mark.parametrize(
    ("text", "author", "changes"),
    [
        ("", "", None),
        ("@helper", "helper", {}),
        ("@Help desk bot all", "Help desk bot", {"share": 1.0}),
        ("@helper 1 in 5", "helper", {"share": 0.2}),
        ("@helper 20 a day", "helper", {"per_day": 20}),
        (
            "@helper 1 IN 4 40 a day Reaction alert HERE",
            "helper",
            {"share": 0.25, "per_day": 40, "shows": Shows.REACTION, "alert": "here"},
        ),
        ("@helper off", "helper", None),
        ("off @helper", "helper", None),
        ("Off  @Help desk bot", "Help desk bot", None),
        ("@alert me alert off", "alert me", {"alert": "off"}),
        ("off @helper all", "helper all", None),
        ("@helper off all", "helper off", {"share": 1.0}),
        ("@helper 0 a day", "helper 0 a day", {}),
    ],
)
def test_what_is_typed_is_understood(
    text: str, author: str, changes: dict[str, Any] | None
) -> None:
    assert parse_watch(text) == (author, changes, "everywhere" in text)


@pytest.mark.parametrize(
    "text", ["helper", "@", "off", "off helper", "on @helper", "helper @helper", "@a @b"]
)
def test_a_text_that_is_no_request_is_quoted(text: str) -> None:
    with pytest.raises(
        ValueError,
        match=f"I do not know '{text}': I watch one assistant at a time, by `@` and its name",
    ):
        parse_watch(text)


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


def test_a_day_over_its_limit_weighs_by_all_its_replies() -> None:
    # 10 replies a day, half of them drawn: 5 scored with 5 on one day, 1 of 5 with 0 on the other,
    # the rest over.
    rows = [*drawn(5, 5, 0.5, "2026-11-21"), *drawn(1, 0, 0.5, "2026-11-22")]
    coverage = {
        "2026-11-21": Coverage({ReplyOutcome.PASSED: 5, ReplyOutcome.TAKEN: 5}),
        "2026-11-22": Coverage(
            {
                ReplyOutcome.PASSED: 5,
                ReplyOutcome.TAKEN: 1,
                ReplyOutcome.OVER: 3,
                ReplyOutcome.MISSED: 1,
            }
        ),
    }
    quality = to_quality(rows, Scale(0, 5), coverage)
    assert quality is not None
    assert (quality.mean.n, quality.mean.judge.mean) == (6, pytest.approx(2.5))
    plain = to_quality(rows, Scale(0, 5))
    assert plain is not None
    assert plain.mean.judge.mean == pytest.approx(25 / 6)


def test_a_changed_share_weighs_by_the_probability_of_each_draw() -> None:
    rows = [*drawn(10, 5, 1.0, "2026-11-21"), *drawn(2, 0, 0.2, "2026-11-22")]
    quality = to_quality(rows, Scale(0, 5))
    assert quality is not None
    assert quality.mean.judge.mean == pytest.approx(2.5)


def test_a_label_stands_for_its_week_however_many_were_given_there() -> None:
    # Two weeks of ten replies, all scored 3: five labels of 4 in one, a single 1 in the other. (4 +
    # 1) / 2.
    earlier = [*drawn(5, 3, week=1, given="U1 4"), *drawn(5, 3, week=1)]
    rows = [*earlier, *drawn(1, 3, given="U1 1"), *drawn(9, 3)]
    quality = to_quality(rows, Scale(0, 5))
    assert quality is not None
    assert quality.mean.corrected is not None
    assert quality.mean.corrected.mean == pytest.approx(2.5)


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
    quality = to_quality(rows, Scale(0, 5))
    assert quality is not None
    assert quality.mean.missing == 0
    assert (quality.mean.corrected is not None) == is_corrected
    assert (UNLIKE in as_people(quality, "this week")) != is_corrected


def test_labels_of_what_is_drawn_more_often_weigh_less() -> None:
    # 60 replies, half of them labelled with their score; 20 that askers contradict, all labelled
    # with 1: (60 * 4 + 20 * 1) / 80. The labels alone have a mean of 2.8.
    scored = [
        CountedCase(number, 4, 0, 0, f"{number}", 1.0, given="U1 4" if number < 30 else None)
        for number in range(60)
    ]
    scored += [
        CountedCase(number, 4, 0, 0, f"{number}", 1.0, given="U1 1", times_drawn=4)
        for number in range(60, 80)
    ]
    quality = to_quality(scored, Scale(0, 5))
    assert quality
    assert quality.mean.corrected
    assert quality.mean.corrected.mean == pytest.approx(3.25)
