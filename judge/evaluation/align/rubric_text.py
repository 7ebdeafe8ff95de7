"""The rubric's text, proposed by a model that reads where judge and people differ; the best one so
far is rewritten.

Source: Agrawal et al., "GEPA: Reflective prompt evolution" (arXiv 2507.19457), with one candidate,
not a frontier.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from statistics import fmean

from judge.errors import RubricError
from judge.evaluation.align.asking import Asker, BudgetError, CaseScore, CaseScores
from judge.evaluation.align.cases import LabelledCase, to_digest
from judge.evaluation.align.examples import MOST_CHARS, SLOT, quoted
from judge.scoring.attacks import find_flags
from judge.scoring.rubric import Rubric
from judge.scoring.sanitize import sanitize

_BATCH = 4
_WHY_NONE = (
    "On the labels to learn from, judge and people agree already.",
    "The model proposed no text that can be used; a stronger one may.",
    "On the labels to learn from, no proposed text brings the scores closer to people's.",
)
_BLOCK = re.compile(r"```(?:\S*\n)?(.*)```", re.DOTALL)


def criteria_of(rubric: Rubric) -> str:
    """The text before the question, which is the part to rewrite.

    The rest, with the form of the answer, stays.
    """
    return rubric.template.partition(SLOT)[0].strip()


def with_criteria(rubric: Rubric, criteria: str) -> Rubric:
    """Raises RubricError if these criteria make no valid rubric, or are too long to be edited in
    Slack.
    """
    if criteria == criteria_of(rubric):
        return rubric
    rest, criteria = rubric.template.partition(SLOT)[2], sanitize(criteria).strip()
    prompt = f"{criteria}\n\n{SLOT}{rest}"
    if not criteria or len(prompt) > MOST_CHARS:
        raise RubricError(
            f"rubric {rubric.name!r}: {len(prompt):,} characters; use {MOST_CHARS:,} at most"
        )
    return Rubric(rubric.name, prompt)


async def search(
    rubric: Rubric, learned: Sequence[LabelledCase], asker: Asker, spare: int
) -> tuple[Rubric | None, str]:
    """The rubric closest to people on the cases to learn from; None and the reason if none is
    closer than `rubric`.

    In each turn, the model rewrites the criteria after reading four cases. Its proposal is scored
    on these, and if that is closer to people, on all. The search ends after twelve proposals or
    forty turns, or if the budget is too small for another proposal and the `spare` verdicts of its
    trial.
    """
    request = Path(__file__).with_name("request.txt").read_text(encoding="utf-8").rstrip()
    best, found = rubric, await asker.scores(rubric, learned)
    proposals, came_to = 0, 0
    for batch in islice(_batches(learned), 40):  # requests that may bring no proposal, too
        is_spent = not asker.can_afford(spare + len(learned) + 2 * _BATCH + 1)
        if proposals == 12 or is_spent:
            break
        if (before := _closeness(best, batch, found)) == 1:
            continue
        proposals, came_to = proposals + 1, came_to or 1
        shown = "".join(
            _to_text(number, each, found.get(each.id)) for number, each in enumerate(batch, 1)
        )
        answer = await asker.write(
            rubric, request.format(criteria=criteria_of(best), responses=shown)
        )
        try:  # an answer without a block would be a refusal
            proposed = with_criteria(rubric, block[1] if (block := _BLOCK.search(answer)) else "")
        except RubricError:
            continue
        came_to = 2
        if _closeness(rubric, batch, await asker.scores(proposed, batch)) > before:
            after = await asker.scores(proposed, learned)
            if _closeness(rubric, learned, after) > _closeness(rubric, learned, found):
                best, found = proposed, after
    if best is not rubric:
        return best, ""
    if is_spent:
        raise BudgetError
    return None, _WHY_NONE[came_to]


def _batches(cases: Sequence[LabelledCase]) -> Iterator[Sequence[LabelledCase]]:
    """All cases in batches, again and again, each time in another order, which is the same in each
    run.
    """
    for turn in count():
        order = sorted(cases, key=lambda each: to_digest(str(turn), each.id))
        yield from (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))


def _closeness(rubric: Rubric, cases: Sequence[LabelledCase], scores: CaseScores) -> float:
    """1 if all scores are people's, and 0 if each is as far from it as the scale allows, or
    missing.
    """
    width = rubric.scale.high - rubric.scale.low
    return fmean(
        1 - abs(one.score - each.label) / width
        if (one := scores.get(each.id)) and one.score is not None
        else 0
        for each in cases
    )


def _to_text(number: int, case: LabelledCase, scored: CaseScore | None) -> str:
    record = {"Question": _quoted(case.question), "Response": _quoted(case.response)}
    if before := "\n".join(f"{each.role}: {each.text}" for each in case.conversation):
        record = {"What was said before the question": _quoted(before), **record}
    if case.reference:
        record = {"Reference": _quoted(case.reference), **record}
    if scored is None or scored.score is None:
        record["Judge"] = "no score that could be read"
    else:
        record["Judge"] = f"score {scored.score}\n{_quoted(scored.justification)}"
    record["People"] = f"{case.label:g}"
    if reasons := [each for each in case.reasons if each.strip() and not find_flags("", each)]:
        record["Reasons that people gave"] = _quoted(" / ".join(reasons))
    return f"# Example {number}\n" + "".join(
        f"## {title}\n{text}\n\n" for title, text in record.items()
    )


def _quoted(text: str) -> str:
    return quoted(text, 2_000).replace("```", "'''")
