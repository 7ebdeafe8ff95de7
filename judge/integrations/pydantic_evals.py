"""The judge as an evaluator of Pydantic Evals; docs/integrations.md has a dataset."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from judge.integrations.texts import score_dialogue
from judge.scoring.judging import Judge
from judge.scoring.model.chat import DEFAULT_MODEL
from judge.scoring.rubric import DEFAULT_RUBRIC
from judge.scoring.ways import TEXT


@dataclass(repr=False)
class SlackJudge(Evaluator[Any, Any, Any]):
    """Scores a case's output on the rubric's own scale, as an answer to its inputs or to their last
    user message, with the messages before it. A rubric that places a reference gets the expected
    output.

    An unscored case has no score; the label `SlackJudge status` says why. An exception of the judge
    is a failure.
    """

    model: str = DEFAULT_MODEL
    rubric: str = DEFAULT_RUBRIC
    samples: int | None = None
    timeout_s: float = 60
    ask: str = TEXT

    @cached_property
    def _judge(self) -> Judge:
        return Judge(self.model, self.rubric, self.samples, timeout_s=self.timeout_s, ask=self.ask)

    def get_evaluator_version(self) -> str:
        return self._judge.version

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason]:
        verdict, _ = await score_dialogue(self._judge, ctx.inputs, ctx.output, ctx.expected_output)
        if verdict.score is None:
            why = verdict.unscored.detail if verdict.unscored else None
            return {"SlackJudge status": EvaluationReason("unscored", why)}
        score = EvaluationReason(verdict.score, verdict.justification)
        return {"SlackJudge": score, "SlackJudge status": EvaluationReason("scored")}
