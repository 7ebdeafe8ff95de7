"""Rubrics of any scale, for tests of what ratings come to."""

from functools import cache

from judge import Rubric


@cache
def rubric_on(scale: tuple[int, int]) -> Rubric:
    texts = "<question>{prompt}</question>\n<response>{response}</response>"
    return Rubric("r", f"{texts}\nThe score is between {scale[0]} and {scale[1]}\n")
