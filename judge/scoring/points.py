"""Points: which criteria of its rubric a response meets, asked for in a request of its own beside the score."""

import re
from collections.abc import Mapping
from dataclasses import replace

from judge.scoring.answers import spoken
from judge.scoring.model.chat import ChatModel
from judge.scoring.prompt import Texts, render_material, render_texts
from judge.scoring.ratings import Verdict, add_up
from judge.scoring.rubric import Rubric, Scale

MET = 0.5  # the probability from which on a criterion is
_LINE = re.compile(r"\W*(?P<name>\w[\w .'-]*?)\W*[:=]\W*(?P<met>yes|no)\W*", re.IGNORECASE)
_REQUEST = """\
{material}

{texts}

Say for each of these criteria whether the response meets it:

{criteria}

Answer with one line for each criterion and nothing else: its name, a colon, and yes or no."""


async def with_points(model: ChatModel, verdict: Verdict, texts: Texts, give_up_at: float) -> Verdict:
    """The verdict with its points, as far as the model says them, and what they cost; raises as `with_reason`."""
    answer = await model.complete(render_points_request(texts), temperature=0.0, give_up_at=give_up_at)
    points = read_points(answer.choices[0].text, texts.rubric)
    return replace(verdict, points=points, **add_up((verdict, answer)))


def render_points_request(texts: Texts) -> str:
    """The prompt that asks whether the response meets each criterion of the rubric."""
    criteria = "\n".join(f"- {name}: {said}" for name, said in texts.rubric.criteria.items())
    said = "\n".join(each["content"] for each in render_texts(texts))
    return _REQUEST.format(material=render_material(texts), texts=said, criteria=criteria)


def read_points(answer: str, rubric: Rubric) -> dict[str, float | None] | None:
    """1 for each criterion that is met, 0 for one that is not, None for one that the answer leaves open.

    Only lines of a criterion's name and yes or no count. None if there is no such line.
    """
    names = {name.casefold(): name for name in rubric.criteria}
    said: dict[str, set[str]] = {}
    for line in spoken(answer).splitlines():
        if (found := _LINE.fullmatch(line)) and (name := names.get(found["name"].casefold())):
            said.setdefault(name, set()).add(found["met"].lower())
    if not said:
        return None
    worth = {frozenset({"yes"}): 1.0, frozenset({"no"}): 0.0}
    return {name: worth.get(frozenset(said.get(name, ()))) for name in rubric.criteria}


def points_total(points: Mapping[str, float | None], scale: Scale) -> int | None:
    """The score that the points add up to; None if one of them is open, or they are fewer than the scale has steps.

    As many criteria as the scale has steps add a point each. Each further one, if it is not met, takes a point away.
    """
    low, high = scale
    met = [None if worth is None else worth >= MET for worth in points.values()]
    if None in met or len(met) < high - low:
        return None
    return max(low, low + sum(map(bool, met[: high - low])) - met[high - low :].count(False))
