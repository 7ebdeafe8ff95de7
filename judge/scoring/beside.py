"""What is asked for beside a score: the reason that it came without, and its points, each in a
request of its own.

Points say which criteria of its rubric a response meets.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from judge.scoring.answers import spoken, to_plain
from judge.scoring.model.chat import ChatModel
from judge.scoring.prompt import Texts, render_material, render_prompt, render_texts
from judge.scoring.ratings import Rating, Verdict, add_up
from judge.scoring.reading import parse_rating
from judge.scoring.rubric import Rubric, Scale

MET = 0.5  # the probability from which on a criterion is
_FOR_POINTS = """\
{material}

{texts}

Say for each of these criteria whether the response meets it:

{criteria}

Answer with one line for each criterion and nothing else: its name, a colon, and yes or no."""
_FOR_REASON = """\
{prompt}

You have given the score {score} already. Write its justification and nothing else, in at most 100 words."""


def lacks_reason(verdict: Verdict) -> bool:
    has_chances = any(isinstance(each, Rating) and each.probabilities for each in verdict.ratings)
    return verdict.is_scored and has_chances and not verdict.justification


async def with_reason(
    model: ChatModel, verdict: Verdict, texts: Texts, give_up_at: float
) -> Verdict:
    """The verdict with a justification, unless the model's answer names another score.

    Raises JudgeError if the call failed, and TimeoutError at `give_up_at`.
    """
    request = _FOR_REASON.format(prompt=render_prompt(*texts), score=verdict.score)
    answer = await model.complete(request, temperature=0.0, give_up_at=give_up_at)
    said, scale = answer.choices[0].text, texts.rubric.scale
    # With the score in front, if the answer does not repeat it.
    read = [
        parse_rating(each, scale, response=texts.response)
        for each in (said, f"score: {verdict.score}\n\n{said}")
    ]
    rated = [each for each in read if isinstance(each, Rating)][:1]
    words = "".join(each.justification for each in rated if each.score == verdict.score)
    first, *others = verdict.ratings
    # The only rating has the reason, too, and the answer beside its own.
    if words and not others and isinstance(first, Rating):
        first = replace(first, justification=words, raw=f"{first.raw}\n\n{words}")
    return replace(
        verdict, justification=words, ratings=(first, *others), **add_up((verdict, answer))
    )


async def with_points(
    model: ChatModel, verdict: Verdict, texts: Texts, give_up_at: float
) -> Verdict:
    """The verdict with its points, open where the model does not say them, and what they cost;
    raises as `with_reason`.
    """
    answer = await model.complete(
        render_points_request(texts), temperature=0.0, give_up_at=give_up_at
    )
    points = read_points(answer.choices[0].text, texts.rubric)
    if set(points.values()) == {None}:
        model.note(f"Model {model.name!r} was asked for points and gave an answer without any.")
    return replace(verdict, points=points, **add_up((verdict, answer)))


def render_points_request(texts: Texts) -> str:
    criteria = "\n".join(f"- {name}: {said}" for name, said in texts.rubric.criteria.items())
    said = "\n".join(each["content"] for each in render_texts(texts))
    return _FOR_POINTS.format(material=render_material(texts), texts=said, criteria=criteria)


def read_points(answer: str, rubric: Rubric) -> dict[str, float | None]:
    """1 for each criterion that is met, 0 for one that is not, None for one that the answer leaves
    open.

    Only a criterion's name with yes or no counts, on a line of its own or in a list on one line.
    """
    plain = to_plain(spoken(answer)).casefold()
    said: dict[str, set[str]] = {}
    for point in _point_pattern(tuple(rubric.criteria)).finditer(plain):
        said.setdefault(point["name"], set()).add(point["met"])
    worth = {frozenset({"yes"}): 1.0, frozenset({"no"}): 0.0}
    return {name: worth.get(frozenset(said.get(name.casefold(), ()))) for name in rubric.criteria}


@cache
def _point_pattern(criteria: Sequence[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(name.casefold()) for name in criteria)
    # "1. relevant (asks for Paris): yes (it names it);", at the beginning of a line or of an item.
    words = r"(?:\([^()\n]{0,200}\)[ \"']*)?"
    begin = r"(?:^|[;,]|\b[0-9]{1,2}[.)])[ \"'({\[•-]*"
    end = rf"(?=\W*(?:$|[;(]|(?:[0-9]{{1,2}}[.)] *)?(?:{names})\b))"
    return re.compile(
        rf"{begin}(?P<name>{names})[ \"')\]]*{words}[:=][ \"']*(?P<met>yes|no)\b{end}", re.MULTILINE
    )


def points_total(points: Mapping[str, float | None], scale: Scale) -> int | None:
    """The score that the points add up to; None if one of them is open, or they are fewer than the
    scale has steps.

    As many criteria as the scale has steps add a point each. Each further one, if it is not met,
    takes a point away.
    """
    low, high = scale
    met = [None if worth is None else worth >= MET for worth in points.values()]
    if None in met or len(met) < high - low:
        return None
    return max(low, low + sum(map(bool, met[: high - low])) - met[high - low :].count(False))
