"""The texts of watches (see `__snapshots__`), and Slack's limits for them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from syrupy.assertion import SnapshotAssertion

from bot.domain.standing import Standing, Subject, Whose
from bot.domain.watch import Coverage, ReplyOutcome, Shows, Watch
from bot.features.digest.channel_week import LowReplies
from bot.features.digest.low_list import list_window
from bot.features.watch import (
    examples,
    news,
    pauses,
    release_text,
    standing_text,
    text,
    week_text,
    window_text,
)
from bot.features.watch.figures import AssistantAtHome, CountedWatch
from bot.features.watch.queries import Release, Unread
from bot.features.watch.retirements import retirement_notice
from bot.features.watch.way import Way
from bot.features.watch.window_text import WatchState, WatchView, watch_modal
from bot.figures.lowest import LowList
from bot.pipeline.text import not_understood
from bot.slack.blocks import actions, spoken
from bot.slack.members import Member
from bot.slack.messenger import Post
from bot.store.figures import LowCase
from judge import load_rubric
from judge.evaluation.standing import Direction, Event
from judge.evaluation.stats import Interval
from judge.scoring.model.retirement import Retirement
from judge.scoring.rubric import Scale
from pocket_slack.blocks import check_blocks
from tests.cases import NOW
from tests.features.watch.test_week_text import LOWER
from tests.texts import read, read_window, unlike

STATE = WatchState(channel_id="C1", is_long=True)
URL = "https://acme.slack.com/"
FREE = Way("m", None, 0)
MANY = {f"U{number}": "x" * 200 for number in range(150)}


def form(names: Mapping[str, str], **changes: object) -> WatchView:
    given = {"team_id": "T1", "channel_id": "C1", "author_id": "U149", "since": NOW} | changes
    return WatchView(Watch(**given), True, load_rubric("additive-5"), FREE, names)  # type: ignore[arg-type]


def a_watch(**changes: Any) -> Watch:
    return Watch(
        **({"team_id": "T1", "channel_id": "C1", "author_id": "B1", "since": NOW} | changes)
    )


UNREAD = Unread(NOW, "internal_error")
SEEN = {None: 7} | {outcome: number for number, outcome in enumerate(ReplyOutcome)}
SET = a_watch(share=0.2, per_day=40, shows=Shows.VERDICT, alerts_to=("C1", "U1"), floor=3.5)
COUNTED = [
    CountedWatch(a_watch(per_day=0), "helper", Coverage({}), None),
    CountedWatch(SET, "*helper*", Coverage(SEEN), UNREAD),
    CountedWatch(
        a_watch(shows=Shows.REACTION, alerts_to=("U1",), low_since=NOW),
        "helper",
        Coverage({}),
        None,
    ),
]
RELEASE = Release(7, "T1", "", "B1", "U1", NOW, NOW.date(), "new prompt")
NAMES = ["helper", "Help desk", "help", *map(str, range(20))]
HELPER = {"B1": Member("helper", True)}
SCALE = Scale(0, 5)
LOWEST = [
    LowCase(
        7, 1, 5, "C1", "B1", "1.000002", "1.000001", NOW, reason="It does not say which version."
    )
]


def a_standing(**changes: Any) -> Standing:
    """A drop that was told, with these changes."""
    drop: dict[str, Any] = {"version": "m, strict 2", "level": 2.9, "level_low": 2.6, "n": 240}
    drop |= {"level_high": 3.2, "before": 3.6, "since": date(2026, 11, 16), "step": -0.7}
    return replace(LOWER, **{"author_id": "B1", "questions": ""} | drop | changes)


_STEADY = {"direction": Direction.STEADY, "whose": None}
_OF_JUDGE = {
    "direction": Direction.TOO_FEW,
    "judge_step": -0.6,
    "judge_low": -0.8,
    "judge_high": -0.4,
}
STANDINGS = {
    "became worse": a_standing(),
    "still worse": a_standing(told_at=NOW),
    "became better": a_standing(direction=Direction.HIGHER, step=0.7, level=4.3),
    "worse again": a_standing(event=Event.FURTHER),
    "the judge": a_standing(whose=Whose.JUDGE, **_OF_JUDGE),
    "both": a_standing(whose=Whose.BOTH, **_OF_JUDGE),
    "open": a_standing(whose=Whose.OPEN),
    "not asked": a_standing(
        whose=Whose.NOT_ASKED, why="a daily limit is used up", asked=0, judge_step=None
    ),
    "questions": a_standing(whose=Whose.QUESTIONS, questions="The questions have changed: askers."),
    "back": a_standing(event=Event.BACK, **_STEADY),
    "stayed": a_standing(event=Event.STAYED, **_STEADY),
    "back for five weeks": a_standing(
        event=Event.BACK, stored_at=NOW - timedelta(weeks=5), **_STEADY
    ),
    "steady": a_standing(event=None, since=None, **_STEADY),
    "no clear effect of a release": a_standing(
        event=None, release_id=7, step=0.2, step_low=-0.1, step_high=0.5, **_STEADY
    ),
    "too few": a_standing(direction=Direction.TOO_FEW, event=None, since=None, whose=None, n=4),
}
SHARE = "Scored 0 to 2: 20 of 30 (67%) since then, 3 of 60 (5%) before."


def posts(name: str, words: str, channel_ids: Sequence[str]) -> Mapping[str, Post]:
    """All messages of watches about an assistant of that name, with these words of others."""
    low = [
        replace(LOWEST[0], id=number, reason=words, response=words, cause=words[:80] or None)
        for number in (7, 8)
    ]
    low_part = [
        *examples.cause_blocks(low),
        *examples.example_blocks(low[:1], name, URL),
        actions(spoken(pauses.pause_button(Subject("T1", "", "B1")), name)),
    ]
    order = replace(SET, channel_id="", except_in=("C2",), channels=("C1", "C3"))
    model = words[:80] or "m"
    of_model = standing_text.new_judge_notice(a_standing(version=model), name, channel_ids)
    standing_lines = week_text.standing_lines(STANDINGS["became worse"], name)
    alerts = {
        which: standing_text.standing_alert(
            standing, name, channel_ids, [SHARE] if standing.is_clear else [], low_part
        )
        for which, standing in STANDINGS.items()
    }
    return alerts | {
        "below": text.floor_alert(SET, name, Interval(2.5, 2.2, 2.8), low_part),
        "a low reply": text.low_alert(SET, name, low[:1], URL),
        "low replies": text.low_alert(SET, name, low, URL),
        "silent": text.silent_alert(SET, name, NOW, 3, words[:200]),
        "another judge": of_model,
        "another model": standing_text.new_model_notice(name, channel_ids, model, "n"),
        "the end of a model": retirement_notice(Retirement(model, NOW.date(), model)),
        "unread": text.unread_alert(SET, name, UNREAD),
        "gone": text.gone_alert(SET, name, 1234),
        "a test": text.test_post(SET, name),
        "an end": text.ended_by(SET, name, "U1"),
        "a change": text.changed_by(SET, name, "U1"),
        "a pause": pauses.paused_notice("U1", NOW.date(), "C1:B1"),
        "begun": text.begun(SET, name, "C1"),
        "begun everywhere": text.begun(order, name, "C1", words[:200]),
        "to end": text.ask_to_end(SET, name),
        "to end everywhere": text.ask_to_end(order, name),
        "first figures": news._first(SET, standing_lines),
    }


def test_a_message_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    for name, post in posts("helper", "no source", ["C1", "C2"]).items():
        check_blocks(post.blocks)
        assert read(post.blocks) == snapshot(name=name)
        assert name not in STANDINGS or "*" not in post.text


def test_of_two_causes_with_as_many_replies_each_screen_names_the_same() -> None:
    causes = ["promises too much", "does not answer", "promises too much", "does not answer"]
    low = [replace(LOWEST[0], id=number, cause=cause) for number, cause in enumerate(causes)]
    at_home = AssistantAtHome(Subject("T1", "", "B1"), "helper", None, Counter(causes))
    assert at_home.cause == "does not answer"
    assert "*does not answer* (2 of 4" in str(examples.cause_blocks(low))
    window = str(
        read(list_window(LowReplies(low, HELPER), LowList("C1", NOW, NOW, "B1"), URL)["blocks"])
    )
    assert window.index("does not answer") < window.index("promises too much")


def test_the_list_of_watches_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    assert read(text.state([]).blocks) == snapshot(name="empty")
    assert read(text.state(COUNTED).blocks) == snapshot
    assert read(text.settings_blocks(COUNTED[:1], 2)) == snapshot(name="in the settings")
    assert text.settings_blocks([], 0) == []


def test_the_answers_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    unknown = ("helpr", "helpr 0 a day", "help  1 in 0", "HELP DESK all")
    hear = replace(SET, alerts_to=("C1", "U1", "U2"))
    said = [
        text.ended("helper"),
        *(text.no_assistant(typed, NAMES) for typed in unknown),
        text.no_assistant("helper", []),
        text.not_watched("helper", []),
        text.not_watched("helper", NAMES),
        text.not_read("missing_scope"),
        not_understood("I do not know '<x>'", text.HELP),
        text.tested(a_watch(), {}),
        text.tested(hear, {"C1": "", "U1": "not_in_channel", "U2": "odd"}),
        release_text.when_compared(None, RELEASE, 0.5),
        window_text.off_floor(SCALE),
        window_text.kept_out(["eve", "ben"]),
    ]
    assert "\n".join(said) == snapshot


def test_the_window_reads_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    names = {"U149": "helper", "U2": "helper", "U3": "other", "U4": "x" * 90}
    new = replace(form(names), is_set=False)
    usual = read_window(watch_modal(STATE, new))
    assert usual == snapshot
    short = replace(new, a_day=12, way=Way("m", None, 0.0002))
    assert read_window(watch_modal(WatchState(channel_id="C1"), short)) == snapshot(name="short")
    others = form(
        names, share=1 / 3, per_day=7, alerts_to=("C1", "U1"), floor=2.5, shows=Shows.REACTION
    )
    assert unlike(usual, read_window(watch_modal(STATE, others))) == snapshot(name="set")


def test_a_channel_that_watches_many_is_answered_in_one_message() -> None:
    coverage = Coverage(dict.fromkeys([*ReplyOutcome, None], 1000))
    people = ("C1", *("U" + "1" * 10,) * 5)
    watch = a_watch(share=0.001, per_day=99_999, floor=2.5, alerts_to=people)
    unread = Unread(NOW, "x" * 200)
    counted = [
        CountedWatch(replace(watch, author_id=f"U{number}"), "x" * 200, coverage, unread)
        for number in range(30)
    ]
    post = text.state(counted)
    assert "And 20 more: `/judge watch @name` shows each." in read(post.blocks)
    check_blocks(post.blocks)
