"""The judge as a scorer of MLflow (`mlflow.genai.evaluate`); docs/integrations.md has an
evaluation.
"""

import asyncio
from typing import Any

from mlflow.entities import AssessmentError, AssessmentSource, Feedback
from mlflow.genai import Scorer, scorer

from judge.integrations.texts import score_dialogue
from judge.scoring.judging import Judge


def slack_judge(**options: Any) -> Scorer:
    """A scorer of outputs on the rubric's own scale, as answers to the inputs or to their last user
    message, with the messages before it. A rubric that places a reference gets the
    `expected_response`.

    Without a usable score its feedback has the error UNSCORED instead of a value; an exception of
    the judge becomes SCORER_ERROR. The `options` are the arguments of `Judge`.
    """
    idle = [
        Judge(**options)
    ]  # MLflow scores in many threads, and a judge can be used by one at a time

    @scorer(name="slack_judge", timeout=0)  # the judge has its own timeout
    def score(inputs: Any, outputs: Any, expectations: dict[str, Any] | None = None) -> Feedback:
        try:
            judge = idle.pop()
        except IndexError:
            judge = Judge(**options)
        with (
            asyncio.Runner() as runner
        ):  # not `asyncio.run`, which leaves the loop open under nest_asyncio
            expected = (expectations or {}).get("expected_response")
            verdict, added = runner.run(score_dialogue(judge, inputs, outputs, expected))
        idle.append(judge)
        fields = {name: str(value) for name, value in added.items() if value is not None}
        why = AssessmentError("UNSCORED", verdict.unscored.detail) if verdict.unscored else None
        by = AssessmentSource(source_type="LLM_JUDGE", source_id=judge.version)
        return Feedback(
            value=verdict.score,
            error=why,
            rationale=verdict.justification,
            metadata=fields,
            source=by,
        )

    return score
