"""The windows that ask for labels, and the texts about them (see `__snapshots__`), keep Slack's
limits.
"""

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from bot.domain.label import Label
from bot.features.labels.text import (
    NOT_RECORDED,
    NOTHING,
    blind_modal,
    blind_stands,
    compared_blocks,
    compared_modal,
    confirmation,
    effect,
    label_modal,
    meanings,
    not_understood,
    off_scale,
    over_modal,
    weekly_text,
)
from bot.slack.blocks import ModalState
from bot.store.assignments import DrawnCase
from bot.store.labels import LabelBudget
from judge import Rubric, Turn, load_rubric
from judge.evaluation.stats import Interval, MeanEstimate
from judge.scoring.rubric import Scale
from pocket_slack.blocks import check_view
from tests.pipeline.test_verdict_text import a_case, a_verdict
from tests.tables import each
from tests.texts import read_window, unlike

RUBRIC = load_rubric("additive-5")
OTHER = Rubric("other", RUBRIC.prompt.replace("- Add", "- Give"))


def test_labels_that_do_not_stand_for_the_other_replies_change_no_mean() -> None:
    mean = MeanEstimate(Scale(0, 5), Interval(2.5, 2.1, 2.9), 60, 0.04, 60, effective=24.0)
    assert effect("C1", "helper", mean) == (
        "People's mean of helper in <#C1> cannot be told: the labelled replies score unlike the "
        "others, so they do not stand for them."
    )


def test_a_text_of_any_length_is_shown_whole_in_a_blind_window() -> None:
    response = "\n".join(f"{number:05}{' word' * 20}" for number in range(700))
    view = blind_modal(STATE, replace(DRAWN, response=response), None, "1 of 3")
    check_view(view, "modal")
    lines = read_window(view)
    assert all(f"{number:05} word" in lines for number in range(700))


STATE = ModalState(channel_id="C1", case_id=7)
DRAWN = DrawnCase(7, "C1", "Why?", "Because.", "additive-5", "f846c469", 0, 5)
TALKED = replace(
    DRAWN,
    messages_before=5,
    conversation=(Turn("Person 1", "Hello."), Turn("", "3 messages left out")),
)
COMPARED = [
    (a_case(question="Why?", score=4, highest=5, message_ts="2.1", thread_ts="1.1"), 3),
    (a_case(question=None, score=3, highest=5, message_ts="3.1"), 3),
]


def test_the_windows_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    blind = read_window(blind_modal(STATE, DRAWN, RUBRIC, "1 of 3"))
    assert blind == snapshot(name="blind")
    others = {
        "of a rubric of the channel": blind_modal(
            STATE, replace(DRAWN, rubric="other"), OTHER, "1 of 3"
        ),
        "of a rubric that is gone": blind_modal(STATE, DRAWN, None, "2 of 3", NOT_RECORDED),
        "with messages before": blind_modal(STATE, TALKED, RUBRIC, "1 of 3"),
    }
    for name, view in others.items():
        assert unlike(blind, read_window(view)) == snapshot(name=name)
    windows = [
        label_modal(STATE, a_verdict(), Label(3, "Too short."), RUBRIC),
        label_modal(STATE, a_verdict(None, lowest=0, highest=100), None, None),
        compared_modal(
            STATE,
            compared_blocks(
                COMPARED, "https://a.slack.com/", effect("C1", "", None), is_asked=False
            ),
            NOT_RECORDED,
        ),
        over_modal(NOTHING, []),
    ]
    assert "\n\n".join(map(read_window, windows)) == snapshot


def test_the_answers_read_as_in_the_snapshot(snapshot: SnapshotAssertion) -> None:
    four = Label(4, None)
    one = Label(1, "x")
    said = [
        confirmation(a_case(), a_verdict(), four, None),
        confirmation(a_case(), a_verdict(), one, one),
        confirmation(a_case(), a_verdict(), one, four),
        blind_stands(a_case(), a_verdict(), one),
        *(weekly_text(LabelBudget(weekly, 7)) for weekly in (0, 1000)),
        not_understood("I do not know '<x>'"),
        off_scale(0, 5),
    ]
    assert "\n".join(said) == snapshot


@each("name", ["additive-5", "grounded", "refusal"])
def test_the_words_for_scores_are_about_the_rubric_as_it_is(name: str) -> None:
    rubric = load_rubric(name)
    assert sorted(meanings(rubric)) == list(range(rubric.scale.low, rubric.scale.high + 1))
    assert max(len(f"{score}: {words}") for score, words in meanings(rubric).items()) <= 75
