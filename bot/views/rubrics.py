"""Rubrics in words for people: what each score means, or what counts."""

from collections.abc import Mapping

from judge import Rubric

_ROOM = 1500
_TAGS = ("<question>", "<response>")

_MEANINGS: Mapping[str, Mapping[int, str]] = {
    # additive-5: its points, as what a response with so many of them is like. At most 75 characters with the number.
    "f846c469": {
        5: "Expert, made for this question, with nothing to add or to cut",
        4: "Answers directly and fully, well organised; little could be better",
        3: "Answers the basics of the question in a useful way",
        2: "Covers a good part of the question, but leaves it open",
        1: "Has to do with the question, and gives some information",
        0: "Nothing of that; or it repeats itself, or rambles",
    }
}
"""By the rubric's version, which is a hash of its text: words about another text would be wrong."""


def meanings(rubric: Rubric | None) -> Mapping[int, str]:
    """What each score means in this rubric; empty where nobody has put that into words."""
    return _MEANINGS.get(rubric.version, {}) if rubric else {}


def criteria(rubric: Rubric) -> str:
    """What the rubric says before the question, without the lines on where the texts stand; shortened."""
    before = rubric.prompt.partition("<question>{prompt}")[0]
    lines = [line for line in before.strip().splitlines() if not any(tag in line for tag in _TAGS)]
    text = "\n".join(lines).strip()
    return text if len(text) <= _ROOM else f"{text[:_ROOM].rsplit(maxsplit=1)[0]} …"
