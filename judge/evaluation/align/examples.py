"""Examples: a few labelled cases in the prompt, on which judge and people differ most."""

import re
from collections.abc import Sequence

from judge.errors import RubricError
from judge.evaluation.align.asking import Asker, CaseScores
from judge.evaluation.align.cases import LabelledCase, threads_of
from judge.evaluation.align.trial import compare, tail_of
from judge.scoring.attacks import find_flags
from judge.scoring.attacks.marks import neutralise
from judge.scoring.rubric import Rubric
from judge.scoring.sanitize import sanitize

MOST_CHARS = 5_800
"""The longest rubric that is proposed, which can still be edited in Slack's two fields of 3,000 characters."""

SLOT = "<question>{prompt}</question>"
_INTRODUCTION = "These responses were scored by people. Score as they do.\n\n"
# A person who edits a rubric may change how an example ends; the words of an example never contain
# these tags.
_EXAMPLE = re.compile(
    r'<example case="(?P<id>[^"\n]*)">.*?(?:</example>[ \r\n]*|(?=<example case=|<question>))',
    re.DOTALL,
)
_OWN_TAG = re.compile(r"<(?=\s*/?\s*example)", re.IGNORECASE)


async def propose(
    rubric: Rubric, learned: Sequence[LabelledCase], before: CaseScores, asker: Asker
) -> tuple[Rubric | None, str, CaseScores]:
    """The rubric with examples that bring the other scores closer to people's, and these; None and
    why if none do.
    """
    candidate, used = with_examples(rubric, pick(learned, before))
    if not used:
        return (
            None,
            "No case that could be an example has a score a point or more from people's.",
            {},
        )
    others = [each for each in learned if each.thread not in threads_of(used)]
    after = await asker.scores(candidate, others)
    found = compare(others, before, after, candidate.scale, tail_of(1))
    if found is None or found[0].mean <= 0:
        return (
            None,
            "On the other labels to learn from, they do not bring the scores closer to people's.",
            {},
        )
    return candidate, "", after


def pick(learned: Sequence[LabelledCase], scores: CaseScores) -> Sequence[LabelledCase]:
    """The cases whose score is at least a point from the label, largest gap first, one per thread.

    Cases that contain words meant for the judge are skipped.
    """
    gaps = {
        each.id: abs(found.score - each.label)
        for each in learned
        if (found := scores.get(each.id)) and found.score is not None
    }
    apart = [each for each in learned if gaps.get(each.id, 0) >= 1]
    picked: dict[str, LabelledCase] = {}
    for each in sorted(
        apart, key=lambda one: (-gaps[one.id], len(one.question) + len(one.response), one.id)
    ):
        if not find_flags(each.question, each.response):
            picked.setdefault(each.thread, each)
    return list(picked.values())


def with_examples(
    rubric: Rubric, picked: Sequence[LabelledCase]
) -> tuple[Rubric, Sequence[LabelledCase]]:
    """The rubric with its examples replaced by the first picked cases that fit, and these cases."""
    without = without_examples(rubric)
    rubric, used = without, list[LabelledCase]()
    for each in picked:
        shown = [*used, each]
        texts = "".join(map(_to_text, shown))
        prompt = without.prompt.replace(SLOT, f"{_INTRODUCTION}{texts}{SLOT}")
        try:
            longer = Rubric(
                without.name, prompt
            )  # a text may contain what a rubric has only once, such as {prompt}
        except RubricError:
            continue
        if len(prompt) <= MOST_CHARS:
            rubric, used = longer, shown
        if len(used) == 4:  # more would crowd out the rubric
            break
    return rubric, used


def examples_of(rubric: Rubric) -> Sequence[str]:
    return [found["id"] for found in _EXAMPLE.finditer(rubric.template)]


def without_examples(rubric: Rubric, gone: frozenset[str] | None = None) -> Rubric:
    """The rubric without its calibration and without the examples from the cases in `gone`, by
    default all examples.
    """
    prompt = _EXAMPLE.sub(
        lambda found: "" if gone is None or found["id"] in gone else found[0], rubric.template
    )
    if not _EXAMPLE.search(prompt):
        prompt = prompt.replace(f"{_INTRODUCTION}{SLOT}", SLOT)
    return Rubric(rubric.name, prompt)


def _to_text(case: LabelledCase) -> str:
    reason = next((each for each in case.reasons if each.strip() and not find_flags("", each)), "")
    # The words before the question are left out: they are other people's, and much longer.
    asked = f"Asked after {len(case.conversation)} more messages" if case.conversation else "Asked"
    lines = [
        f'<example case="{case.id}">',
        f"{asked}:\n{quoted(case.question, 300)}",
        f"Response:\n{quoted(case.response, 600)}",
        f"People gave it: {round(case.label, 1):g}",
        *([f"Because:\n{quoted(reason, 150)}"] if reason else []),
        "</example>\n\n",
    ]
    return "\n".join(lines)


def quoted(text: str, room: int) -> str:
    """The first `room` characters of a text, with `> ` before each line, so that none can pose as a
    line of ours.
    """
    words = sanitize(text).strip()
    short = words if len(words) <= room else f"{words[:room].rstrip()} […]"
    return "\n".join(f"> {line}" for line in _OWN_TAG.sub("[", neutralise(short)).splitlines())
