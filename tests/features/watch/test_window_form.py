"""The window of a watch is one that Slack takes, whatever there is to choose."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.domain.watch import Coverage, ReplyOutcome, Watch
from bot.features.watch import ids
from bot.features.watch.figures import CountedWatch
from bot.features.watch.input import WatchState
from bot.features.watch.queries import Unread
from bot.features.watch.text import state
from bot.features.watch.window_text import READING, WatchView, said_modal, watch_modal
from bot.slack.messages import Message
from judge import load_rubric
from pocket_slack.blocks import check_blocks, check_view
from tests.cases import NOW

STATE = WatchState(channel_id="C1", home_id="D1")
URL = "https://acme.slack.com/"
MANY = {f"U{number}": "x" * 200 for number in range(150)}


def form(names: Mapping[str, str], **changes: object) -> WatchView:
    given = {"team_id": "T1", "channel_id": "C1", "author_id": "U149", "since": NOW} | changes
    return WatchView(Watch(**given), True, names, load_rubric("additive-5"), "")  # type: ignore[arg-type]


def reply(text: str) -> Message:
    return Message("1795339203.000001", None, "U149", None, text, None, is_bots=True)


@pytest.mark.parametrize("names", [{}, {"U149": "helper"}, MANY])
@pytest.mark.parametrize(
    "replies", [None, "Slack says no.", [], [reply("a " * 5000), reply("b" * 5000), reply("*c*")] * 2]
)
def test_slack_takes_the_window(names: Mapping[str, str], replies: list[Message] | str | None) -> None:
    people = ("C1", *(f"U{number}" for number in range(5)))
    for view in (
        watch_modal(STATE, form(names), replies, URL),
        watch_modal(STATE, form(names, share=1 / 3, per_day=7, alerts_to=people, floor=2.5), replies, URL),
    ):
        check_view(view, "modal")
    for view in (said_modal(READING), said_modal("No.")):
        check_view(view, "modal")


def test_of_the_numbers_only_a_mean_has_decimals() -> None:
    elements = [block["element"] for block in watch_modal(STATE, form({}), [], URL)["blocks"] if "element" in block]
    numbers = [each for each in elements if each["type"] == "number_input"]
    assert [each["is_decimal_allowed"] for each in numbers] == [False, True]


@pytest.mark.parametrize(("share", "said"), [(1.0, "may have left"), (0.05, "so small a share")])
def test_where_nothing_is_found_the_likely_reason_is_said(share: float, said: str) -> None:
    assert said in str(watch_modal(STATE, form({}, share=share), [], URL))


def test_a_channel_that_watches_many_is_answered_in_one_message() -> None:
    coverage = Coverage(
        {
            ReplyOutcome.TAKEN: 1000,
            ReplyOutcome.OVER: 1000,
            ReplyOutcome.MISSED: 1000,
            ReplyOutcome.NO_ANSWER: 1000,
            None: 1000,
        }
    )
    watch = replace(form({}).watch, share=0.001, per_day=99_999, floor=2.5, alerts_to=("C1", *("U" + "1" * 10,) * 5))
    unread = Unread(NOW, "x" * 200)
    counted = [
        CountedWatch(replace(watch, author_id=f"U{number}"), "x" * 200, coverage, unread) for number in range(30)
    ]
    post = state(counted)
    rest = ", ".join(f"`@{'x' * 79}…`" for _ in range(10))
    assert f"And 20 more, {rest}, …: `/judge watch @name` shows the settings of each." in post.text
    check_blocks(post.blocks)


def test_bots_with_one_name_are_told_apart_by_their_ids() -> None:
    view = watch_modal(STATE, form({"U149": "helper", "U2": "helper", "U3": "other", "U4": "x" * 90}), [], URL)
    (element,) = [block["element"] for block in view["blocks"] if block.get("block_id") == ids.BLOCK_ASSISTANT]
    labels = [option["text"]["text"] for option in element["options"]]
    assert labels == ["U149 · helper", "U2 · helper", "other", "x" * 75]
