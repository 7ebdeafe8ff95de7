"""Detects texts with nothing to judge, and texts that contain words meant for the judge."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from judge.scoring.attacks import phrases
from judge.scoring.attacks.folding import FOLDS, fold, is_invisible
from judge.scoring.attacks.marks import Also, find_tags, only_mark
from judge.scoring.conversation import Turn
from judge.scoring.ratings import Flag, Unscored, UnscoredReason

LONGEST_TEXT = 100_000
# Punctuation of prose. Brackets, operators, quotes and emoji may be an answer: `{}`, `*`, `""`, a
# thumbs-up.
_MARKS = frozenset(" \n.,:;!?-–—…·。、，：；！？")
# Unicode's tag characters: copies of ASCII that no screen shows but some models read.
_UNSEEN_ASCII = re.compile("[\U000e0020-\U000e007e]")


def too_long(
    question: str, response: str, conversation: Sequence[Turn] = (), reference: str = ""
) -> Unscored | None:
    """Why these texts are not even read: one has more than 100,000 characters.

    Otherwise None. Call this first.
    """
    said = sum(len(turn.text) for turn in conversation)
    lengths = {
        "question": len(question),
        "response": len(response),
        "conversation": said,
        "reference": len(reference),
    }
    for part, length in lengths.items():
        if length > LONGEST_TEXT:
            size = f"is {length:,} characters long, and the limit is {LONGEST_TEXT:,}"
            detail = f"The {part} {size}: shorten it to the part that matters."
            return Unscored(reason=UnscoredReason.TOO_LONG, detail=detail)
    return None


def nothing_to_judge(question: str, response: str) -> Unscored | None:
    """Why no model is asked: a text is empty, or the response cannot be an answer. Otherwise None.

    The question itself, punctuation alone, an opener such as "Thought process:" and a lone score
    are not answers. In doubt the model is asked: "5", "C" and "{}" may be right, and so may
    "Solution" if the question asks for a word.
    """
    if _is_blank(question):
        detail = "The question is empty, so there is nothing to judge the response by."
    elif _is_blank(response):
        detail = "The response is empty, so there is nothing to judge."
    elif question.split() == response.split():
        detail = "The response is the question itself, so there is nothing to judge."
    elif _MARKS.issuperset(question):
        detail = "The question has no words, so there is nothing to judge the response by."
    elif kind := only_mark(question):
        detail = f"The question is only [{kind}], so there is nothing to judge the response by."
    elif kind := only_mark(response):
        detail = f"The response is only [{kind}], so there is nothing to judge."
    elif len(response) <= 200 and (
        what := _what_else(fold(question), fold(response).strip())
    ):  # as an opener is
        detail = f"The response is {what}, so there is nothing to judge."
    else:
        return None
    return Unscored(reason=UnscoredReason.NOTHING_TO_JUDGE, detail=detail)


def find_flags(
    question: str, response: str, conversation: Sequence[Turn] = (), reference: str = ""
) -> tuple[Flag, ...]:
    """The warnings to consider before trusting a score of these texts, in the order of `Flag`.

    Requests for a score and orders count in the response, in the turns before the question, whoever
    wrote them, and in the reference. In the question they do not, because it may well give orders.
    The prompt's tags count in all texts but the reference. The search finds words, not meaning: see
    "Hostile texts" in docs/evaluation.md.
    """
    asks, orders = _addresses_judge(response)
    texts = (question, response, *(turn.text for turn in conversation))
    tags = (
        tag
        for text in texts
        for tag in find_tags(text, tags_beside(bool(conversation), bool(reference)))
    )
    found = {
        Flag.ASKS_FOR_SCORE: asks,
        Flag.GIVES_ORDERS: orders,
        Flag.HOLDS_TAGS: any(not tag.is_code for tag in tags),
        Flag.AFTER_ORDERS: any(any(_addresses_judge(turn.text)) for turn in conversation),
        Flag.AGAINST_ORDERS: any(_addresses_judge(reference)),
    }
    return tuple(flag for flag, is_found in found.items() if is_found)


def tags_beside(has_turns: bool, has_reference: bool) -> Also:
    """The tags that the prompt has for these, beside its own four."""
    return ("turn",) * has_turns + ("reference",) * has_reference


def _addresses_judge(text: str) -> tuple[bool, bool]:
    """Whether a text asks for a score, and whether it gives orders."""
    folded = fold(text)
    if not text.isascii():
        folded += "\n" + fold(
            "".join(chr(ord(character) - 0xE0000) for character in _UNSEEN_ASCII.findall(text))
        )
    spaced = folded
    for blanks in ("  ", " \n", "\n ", "\n\n"):
        while blanks in spaced:
            spaced = spaced.replace(blanks, blanks.strip(" ")[:1] or " ")
    return _says(phrases.SCORE_WISHES, spaced) or _states_score(folded), _says(
        phrases.ORDERS, spaced
    )


def _is_blank(text: str) -> bool:
    return all(character.isspace() or is_invisible(character) for character in text)


def _what_else(question: str, response: str) -> str:
    """What the response is instead of an answer; "" if it may answer the question.

    Both texts are folded.
    """
    words = " ".join(re.findall(r"\w+", response.replace("'", "")))
    if words in _openers() or (
        response.rstrip("*_ \n").endswith(":") and f"{words}:" in _openers()
    ):
        what = "an opening without an answer"
        may_be_answer = phrases.ASKS_FOR_A_WORD
    elif _MARKS.issuperset(response):
        what = "punctuation alone"
        may_be_answer = phrases.ASKS_FOR_A_WORD
    elif _pattern(phrases.LONE_SCORE).fullmatch(response):
        what = "a score for itself"
        may_be_answer = phrases.ASKS_FOR_A_SCORE
    else:
        return ""
    return "" if _pattern(may_be_answer).search(question) else what


@cache
def _openers() -> frozenset[str]:
    """Those that fool judges by "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794), and variants
    of them.

    What may also be an answer has a colon, and is an opener only with one.
    """
    return _folded(
        tuple(Path(__file__).with_name("openers.txt").read_text(encoding="utf-8").splitlines())
    )


def _says(table: phrases.Table, text: str) -> bool:
    words = text.replace("\n", " ")
    return any(
        any(word in words for word in _folded(needed)) and _pattern(each).search(text)
        for needed, each in table
    )


def _states_score(folded: str) -> bool:
    if not any(word in folded for word in _folded(phrases.SCORE_WORDS)):
        return False
    statement = _pattern(phrases.SCORE_STATEMENT)
    data = _pattern(phrases.DATA_LINE)
    lines = folded.split("\n")
    return any(
        statement.search(line) and not data.match(before) and not data.match(after)
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
    )


@cache
def _folded(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(fold, words))


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """The pattern for folded text; compiled at first use, because compiling all takes longer than
    `judge --help`.
    """
    return re.compile(text.replace(" ", r"\s").translate(FOLDS))
