"""The judge as a scorer of Inspect (inspect-ai); docs/integrations.md has a task."""

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from judge.integrations.texts import score_dialogue
from judge.scoring.judging import Judge


@scorer(metrics=[mean(), stderr()])
def slack_judge(**judge: Any) -> Scorer:
    """Scores a sample's output on the rubric's own scale, as an answer to its input or the input's
    last user message, with the messages before it. A rubric that places a reference gets the
    sample's target.

    Without a usable score the sample is unscored, and no metric counts it.

    `judge` are the arguments of `Judge`, as plain values. Of a JudgeError (no key, an unknown
    model, ...), `fail_on_error` decides if it ends the run.
    """
    own = Judge(**judge)

    async def score(state: TaskState, target: Target) -> Score:
        asked = (
            state.input
            if isinstance(state.input, str)
            else [each.model_dump() for each in state.input]
        )
        verdict, metadata = await score_dialogue(own, asked, state.output.completion, target.text)
        if verdict.score is not None:
            return Score(value=verdict.score, explanation=verdict.justification, metadata=metadata)
        why = metadata["unscored_detail"]
        return Score.unscored(
            reason=metadata["unscored_reason"], explanation=why, metadata=metadata
        )

    return score
