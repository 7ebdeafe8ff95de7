"""Reasons: the justification of a score that came without one, asked for in a request of its own."""

from dataclasses import replace

from judge.scoring.model.chat import ChatModel
from judge.scoring.prompt import Texts, render_prompt
from judge.scoring.ratings import Rating, Verdict, add_up
from judge.scoring.reading import parse_rating

_REQUEST = """\
{prompt}

You have given the score {score} already. Write its justification and nothing else, in at most 100 words."""


def lacks_reason(verdict: Verdict) -> bool:
    has_chances = any(isinstance(each, Rating) and each.probabilities for each in verdict.ratings)
    return verdict.is_scored and has_chances and not verdict.justification


async def with_reason(model: ChatModel, verdict: Verdict, texts: Texts, give_up_at: float) -> Verdict:
    """The verdict with a justification, unless the model's answer names another score.

    Raises JudgeError if the call failed, and TimeoutError at `give_up_at`.
    """
    request = _REQUEST.format(prompt=render_prompt(*texts), score=verdict.score)
    answer = await model.complete(request, temperature=0.0, give_up_at=give_up_at)
    said, scale = answer.choices[0].text, texts.rubric.scale
    # With the score in front, if the answer does not repeat it.
    read = [parse_rating(each, scale, response=texts.response) for each in (said, f"score: {verdict.score}\n\n{said}")]
    rated = [each for each in read if isinstance(each, Rating)][:1]
    words = "".join(each.justification for each in rated if each.score == verdict.score)
    first, *others = verdict.ratings
    # The only rating has the reason, too, and the answer beside its own.
    if words and not others and isinstance(first, Rating):
        first = replace(first, justification=words, raw=f"{first.raw}\n\n{words}")
    return replace(verdict, justification=words, ratings=(first, *others), **add_up((verdict, answer)))
