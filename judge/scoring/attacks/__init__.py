"""Detects texts with nothing to judge, and texts that contain words meant for the judge."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from judge.scoring.attacks import phrases
from judge.scoring.attacks.folding import FOLDS, fold, is_invisible
from judge.scoring.attacks.marks import Also, find_tags, only_mark
from judge.scoring.attacks.phrases import Phrase
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
    said = "".join(turn.text for turn in conversation)
    parts = {
        "question": question,
        "response": response,
        "conversation": said,
        "reference": reference,
    }
    for name, text in parts.items():
        if len(text) > LONGEST_TEXT:
            size = f"is {len(text):,} characters long, and the limit is {LONGEST_TEXT:,}"
            detail = f"The {name} {size}: shorten it to the part that matters."
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
    # Openers and scores are short.
    elif len(response) <= 200 and (what := _what_else(fold(question), fold(response).strip())):
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
    also = tags_beside(bool(conversation), bool(reference))
    texts = [question, response, *(turn.text for turn in conversation)]
    tags = [tag for text in texts for tag in find_tags(text, also)]
    asks, orders = _addresses_judge(response)
    conditions = {
        Flag.ASKS_FOR_SCORE: asks,
        Flag.GIVES_ORDERS: orders,
        Flag.HOLDS_TAGS: any(not tag.is_code for tag in tags),
        Flag.AFTER_ORDERS: any(any(_addresses_judge(turn.text)) for turn in conversation),
        Flag.AGAINST_ORDERS: any(_addresses_judge(reference)),
    }
    return tuple(flag for flag, is_met in conditions.items() if is_met)


def tags_beside(has_turns: bool, has_reference: bool) -> Also:
    """The tags that the prompt has for these, beside its own four."""
    return ("turn",) * has_turns + ("reference",) * has_reference


def _addresses_judge(text: str) -> tuple[bool, bool]:
    """Whether a text asks for a score, and whether it gives orders."""
    folded = fold(text)
    unseen = [] if text.isascii() else _UNSEEN_ASCII.findall(text)
    if unseen:
        folded += "\n" + fold("".join(chr(ord(character) - 0xE0000) for character in unseen))
    lines = [" ".join(line.split()) for line in folded.split("\n")]
    plain = "\n".join(line for line in lines if line)
    asks = _has(phrases.SCORE_WISHES, plain) or _states_score(folded)
    return asks, _has(phrases.ORDERS, plain)


def _has(table: Iterable[Phrase], text: str) -> bool:
    for phrase in table:
        for word in phrase.words:
            if word in text:
                if _pattern(phrase.pattern).search(text):
                    return True
                break
    return False


def _states_score(readable: str) -> bool:
    if "score" not in readable:
        return False
    statement = _pattern(phrases.SCORE_STATEMENT)
    data = _pattern(phrases.DATA_LINE)
    lines = ["", *readable.split("\n"), ""]
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        if statement.search(line) and not data.match(before) and not data.match(after):
            return True
    return False


def _is_blank(text: str) -> bool:
    return all(character.isspace() or is_invisible(character) for character in text)


def _what_else(question: str, response: str) -> str:
    """What the response is instead of an answer; "" if it may answer the question.

    Both texts are folded.
    """
    if _is_opener(response):
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


def _is_opener(response: str) -> bool:
    words = " ".join(re.findall(r"\w+", response.replace("'", "")))
    if words in _openers():
        return True
    return response.rstrip("*_ \n").endswith(":") and f"{words}:" in _openers()


@cache
def _openers() -> frozenset[str]:
    """Those that fool judges by "One Token to Fool LLM-as-a-Judge" (arXiv 2507.08794), and variants
    of them.

    What may also be an answer has a colon, and is an opener only with one.
    """
    text = Path(__file__).with_name("openers.txt").read_text(encoding="utf-8")
    return frozenset(fold(line) for line in text.splitlines())


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """The pattern for folded text; compiled at first use, because compiling all takes longer than
    `judge --help`.
    """
    return re.compile(text.replace(" ", r"\s").translate(FOLDS))
