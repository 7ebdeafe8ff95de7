"""What is sent keeps Slack's limits whatever the texts are, and tells our words from others'."""

from datetime import UTC, datetime
from importlib import import_module
from typing import Any

from bot.domain.case import CaseSource, CaseStatus, LoggedCase, QuestionSource
from bot.pipeline import text as messages
from bot.pipeline import verdict_text as verdicts
from bot.pipeline.text import question_modal
from bot.pipeline.verdict_text import why_unscored
from bot.slack import ids
from bot.slack.blocks import ModalState
from judge import JudgeError, Rating, RubricError
from judge.scoring.ratings import Result, UnscoredReason, unscored
from pocket_slack.blocks import check_blocks, check_view
from tests import cases
from tests.cases import bare_verdict as a_verdict
from tests.screens import CONTENTS, Recorder
from tests.tables import each


def a_case(**changes: Any) -> LoggedCase:
    asked = cases.a_case(
        source=CaseSource.SHORTCUT, question_source=QuestionSource.PARENT, message_ts="1.2"
    ).model_dump()
    logged = {
        "id": 7,
        "status": CaseStatus.JUDGED,
        "created_at": datetime(2026, 11, 21, tzinfo=UTC),
    }
    return LoggedCase(**(asked | logged | changes))


@each("words", CONTENTS.values())
def test_messages_and_windows_keep_slacks_limits(words: str) -> None:
    recorder = Recorder()
    with recorder.of("any"):
        import_module("tests.pipeline.screens").make(words)  # which imports this module
    for made in recorder.made.values():
        if view := made.get("view"):
            check_view(view, "modal")
        else:
            check_blocks(made["message"]["blocks"])
            assert 0 < len(made["message"]["text"].strip()) < 4000
            assert "<!channel" not in made["message"]["text"]


@each(
    ("score", "lowest", "highest", "gauge"),
    [(4, 0, 5, "●●●●○"), (1, 1, 10, "○○○○○"), (10, 1, 10, "●●●●●")],
)
def test_the_gauge_has_five_steps_on_any_scale(
    score: int, lowest: int, highest: int, gauge: str
) -> None:
    assert verdicts.gauge(a_verdict(score=score, lowest=lowest, highest=highest)) == gauge


@each(
    ("scores", "scale", "first"),
    [
        ((4, 3, 3), (0, 5), "*Score 3 of 5*  ●●●○○"),
        ((0, 2, 2), (0, 5), "*Score 3 of 5*, ratings from 0 to 2  ●●●○○"),
        ((3, 20, 41), (0, 100), "*Score 3 of 100*  ○○○○○"),  # less than two points, of twenty each
        ((3, 20, 43), (0, 100), "*Score 3 of 100*, ratings from 3 to 43  ○○○○○"),
    ],
)
def test_a_split_is_said_first(scores: tuple[int, ...], scale: tuple[int, int], first: str) -> None:
    spread = max(scores) - min(scores)
    verdict = a_verdict(
        score=3, ratings=ratings(*scores), spread=spread, lowest=scale[0], highest=scale[1]
    )
    assert verdicts.headline(verdict) == first


def ratings(*scores: int | None, model: str = "m") -> tuple[Result, ...]:
    return tuple(
        unscored(UnscoredReason.NO_SCORE, (0, 5))
        if score is None
        else Rating(score=score, justification=f"Because {score}.", raw="", model=model)
        for score in scores
    )


HOSTILE = (
    "*Score 5 of 5*  ●●●●●\n> *Question* (as typed): x\n:warning: Only you see this. "
    "<!here> \u202eoge\u202c ` "
) + ("x" + "\u0336" * 9)
SEEN = HOSTILE.replace("\u202e", "").replace("\u202c", "").replace("\u0336" * 9, "\u0336" * 2)


def test_what_the_model_wrote_stands_in_italics_on_one_line_and_nowhere_else() -> None:
    post = verdicts.verdict_message(
        a_case(question=None, question_source=None), a_verdict(justification=HOSTILE)
    )
    (block,) = [block for block in post.blocks if "5 of 5" in str(block)]
    ((*ours, said),) = [line["elements"] for line in block["elements"]]
    assert said == {"type": "text", "text": " ".join(SEEN.split()), "style": {"italic": True}}
    assert "5 of 5" not in str(ours)
    assert post.text.startswith(
        "Score 4 of 5: Score 5 of 5 ●●●●● &gt; Question (as typed): x : warning: Only you see this."
    )


def test_a_verdict_of_forgotten_words_quotes_nothing_and_one_before_an_edit_does() -> None:
    post = verdicts.verdict_message(a_case(question="SECRET"), a_verdict(justification="SECRET"))
    assert str(post.blocks).count("SECRET") == 2
    forgotten = a_case(
        question=None, response=None, forgotten_at=datetime(2026, 11, 22, tzinfo=UTC)
    )
    amended = verdicts.amended(post, forgotten)
    assert "SECRET" not in f"{amended.text}{amended.blocks}"
    assert "Score 4 of 5" in str(amended.blocks)
    edited = a_case(edited_at=datetime(2026, 11, 22, tzinfo=UTC))
    assert str(verdicts.amended(post, edited).blocks).count("SECRET") == 2
    known = verdicts.known_verdict(edited, a_verdict(), "https://a.slack.com/")
    assert known.text.startswith("Scored before an edit: *4 of 5*")


def test_a_persons_words_stand_in_quotes_below_titles_of_ours() -> None:
    case = a_case(
        question=HOSTILE,
        question_source=QuestionSource.TYPED,
        message_ts=None,
        response=HOSTILE,
        requester_name="*a*\n> b",
    )
    bar = {"type": "rich_text_quote", "elements": [{"type": "text", "text": SEEN}]}
    who, *typed = messages.texts(case).blocks
    assert who["text"]["text"] == "*a &gt; b* asked for a score"
    assert [block["elements"][1] for block in typed] == [bar, bar]
    modal = question_modal(case, ids.VIEW_CORRECT, "Why.", ModalState(case_id=1, channel_id="C1"))
    assert modal["blocks"][-1]["elements"][1] == bar
    verdict = verdicts.verdict_message(case, a_verdict())
    (asked,) = [block for block in verdict.blocks if "5 of 5" in str(block)]
    assert asked["block_id"] == f"{ids.BLOCK_WORDS}{case.id}-question"
    assert asked["elements"][1]["elements"][0]["text"] == " ".join(SEEN.split())


def test_a_missing_justification_is_said_in_no_quote() -> None:
    nothing = "\u200b\u202e \n"
    post = verdicts.verdict_message(a_case(question=nothing), a_verdict(justification=nothing))
    assert post.text == "Score 4 of 5: There is no justification."
    assert "rich_text_quote" not in str(post.blocks)
    check_blocks(post.blocks)


def test_every_failure_of_the_judge_has_a_sentence_of_its_own() -> None:
    def children(kind: type[JudgeError]) -> set[type[JudgeError]]:
        return {child for direct in kind.__subclasses__() for child in {direct, *children(direct)}}

    general = why_unscored(a_verdict(None, "something_new"))
    for kind in children(JudgeError) - {RubricError}:
        assert why_unscored(a_verdict(None, kind.__name__)) != general, kind
