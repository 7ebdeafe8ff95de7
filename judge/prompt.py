"""The prompt as the model gets it: the rubric with the two texts put in, once, and nothing else changed."""

import re

from judge.attacks import neutralise
from judge.rubric import Rubric

_PLACEHOLDER = re.compile(r"(\{prompt\}|\{response\})")


def render_prompt(rubric: Rubric, question: str, response: str) -> str:
    """The rubric's prompt with `question` and `response` in their places.

    The prompt tells the model where question and response begin and end by its four tags alone, so a text that held
    one could close its own part and speak as the prompt; with a chat template's special token it could end the whole
    turn. Inside the texts, in whatever spelling, the tags' angle brackets become square ones, and a special token gets
    a blank behind its bracket; everything else stays to the letter, braces too.
    """
    texts = {"{prompt}": neutralise(question), "{response}": neutralise(response)}
    return "".join(texts.get(part, part) for part in _PLACEHOLDER.split(rubric.prompt))
