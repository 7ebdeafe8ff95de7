"""The judge as a Python assertion of promptfoo; docs/integrations.md has a configuration."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from judge.integrations.texts import find_dialogue, score_dialogue
from judge.scoring.judging import Judge


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grades an output as an answer to the variable `question`, or without it to the prompt or its
    last user message. A rubric that places a reference gets the variable `reference`.

    The score is the judge's, mapped from the rubric's scale to 0 to 1; `namedScores` has it
    unmapped. Python assertions must return a score, so an unscored output fails like one whose
    grader fails (`graderError`), and has no named score. The assertion's `config` holds the
    arguments of `Judge`. promptfoo shows the sentence of a JudgeError.
    """
    judge = Judge(**context.get("config") or {})
    given = context.get("vars") or {}
    asked: Any = given.get("question") or context["prompt"]
    with suppress(ValueError, TypeError, RecursionError):  # a prompt of several messages is JSON
        asked = find_dialogue(json.loads(asked), output)
    verdict, added = asyncio.run(score_dialogue(judge, asked, output, given.get("reference")))
    if verdict.score is None:
        reason = f"Unscored: {added['unscored_detail']}"
        return {
            "pass": False,
            "score": 0,
            "reason": reason,
            "metadata": added | {"graderError": True},
        }
    low, high = judge.rubric.scale
    share = (verdict.score - low) / (high - low)
    reason = f"{verdict.score} from {low} to {high}: {verdict.justification}"
    named = {"slack_judge": verdict.score}
    return {
        "pass": share > 0,
        "score": share,
        "reason": reason,
        "namedScores": named,
        "metadata": added,
    }
