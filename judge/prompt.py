"""The prompt as the model gets it, and the second request for the one line `score: N` where the answer is in doubt."""

import re

from judge.answers import extract_justification, spoken
from judge.attacks.tags import neutralise
from judge.ratings import Unscored, UnscoredReason
from judge.rubric import Rubric, Scale

_PLACEHOLDER = re.compile(r"(\{prompt\}|\{response\})")


def render_prompt(rubric: Rubric, question: str, response: str) -> str:
    """The rubric's prompt with `question` and `response` in their places.

    The prompt tells the model where question and response begin and end by its four tags alone, so a text that held
    one could close its own part and speak as the prompt; with a chat template's special token it could end the whole
    turn. Inside the texts, in whatever spelling, the tags' angle brackets become square ones, and a special token gets
    a blank behind its bracket; everything else stays to the letter, braces too.
    """
    texts = {"{prompt}": neutralise(question), "{response}": neutralise(response)}
    return "".join(texts.get(part, part) for part in _PLACEHOLDER.split(rubric.template))


_SCORE_LINE = re.compile(r"\A\W*(?:(?:total|final|overall)\W+)?(?:score|rating)\b[^\n]{0,20}(?:\n+|\Z)", re.IGNORECASE)
_MAX_CHARS = 6_000
_WORDLESS = (UnscoredReason.EMPTY, UnscoredReason.REFUSED)


def render_second_request(prompt: str, first: Unscored, scale: Scale) -> str:
    """`prompt`, what the model made of it, and the request for the line that is missing.

    The server remembers nothing, so all of it is sent again. One message rather than a conversation: several chat
    templates insist that the roles alternate, and some servers drop what the assistant is said to have written.
    """
    request = (
        "Reply with this one line and nothing else, where N is one whole number "
        f"between {scale.low} and {scale.high}:\nscore: N"
    )
    answer = neutralise(_shortened(_words(first)))
    if not answer:
        return f"{prompt}\n\n{request}"
    return (
        f"{prompt}\n\nYou have answered:\n\n<answer>\n{answer}\n</answer>\n\nThe score is not clear from it. {request}"
    )


def first_justification(first: Unscored) -> str:
    """What the first answer says besides its doubtful score, at most 100 words; "" where it says nothing."""
    return extract_justification(_SCORE_LINE.sub("", _words(first)), 0, 0)


def _words(first: Unscored) -> str:
    return "" if first.reason in _WORDLESS else spoken(first.raw)


def _shortened(text: str) -> str:
    half = _MAX_CHARS // 2
    return text if len(text) <= _MAX_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"
