"""The judge as a scorer of Inspect, Pydantic Evals, MLflow and promptfoo, each called by the real
package.

promptfoo is not a Python package: its wrapper calls our function.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from judge import Judge, Turn
from judge.integrations.promptfoo import get_assert
from judge.integrations.texts import find_dialogue
from judge.rows.messages import Dialogue
from tests.model_server import ModelServer
from tests.tables import each

# These two packages cause warnings in their own code.
pytestmark = [
    pytest.mark.filterwarnings("ignore:::(inspect_ai|mlflow)"),
    pytest.mark.filterwarnings("ignore:(_ImportHookChainedLoader|the load_module)"),
    pytest.mark.filterwarnings("ignore:Exception ignored in. .function MemoryObjectReceiveStream"),
]
GOOD = "Four, since two and two make four."
NOTHING = "..."
SCORE_4 = "score: 4\nIt is right, and short."
CHAT = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi!"},
    {"role": "user", "content": "What is 2 + 2?"},
]


@pytest.fixture(autouse=True)
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        server.script(SCORE_4)
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        yield server


async def run_inspect(tmp_path: Path, **judge: Any) -> Any:
    from inspect_ai import Task, eval_async
    from inspect_ai.dataset import Sample
    from inspect_ai.log import read_eval_log_async
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageUser,
        ModelOutput,
        ModelUsage,
        get_model,
    )

    from judge.integrations.inspect import slack_judge

    of = {"user": ChatMessageUser, "assistant": ChatMessageAssistant}
    chat = [of[message["role"]](content=message["content"]) for message in CHAT]
    samples = [Sample(id="good", input=chat), Sample(id="nothing", input="What is 2 + 2?")]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in (GOOD, NOTHING)]
    for output in outputs:
        output.usage = ModelUsage()  # otherwise tokens are counted, with a table from the network
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=samples, scorer=slack_judge(**judge))
    (log,) = await eval_async(task, model=model, log_dir=str(tmp_path), max_samples=1)
    # Its samples would be read on first use, with an event loop patched for the rest of the process
    # (nest_asyncio2).
    return await read_eval_log_async(log.location)


@pytest.mark.slow  # importing Inspect takes 5 s of CPU, and MLflow 7 s
async def test_inspect_scores_samples_and_leaves_unscored_ones_out_of_its_metrics(
    server: ModelServer, tmp_path: Path
) -> None:
    log = await run_inspect(tmp_path, model="small")

    good, nothing = [sample.scores["slack_judge"] for sample in log.samples]
    assert (good.value, good.explanation) == (4, "It is right, and short.")
    assert math.isnan(nothing.value)
    assert nothing.reason == "nothing_to_judge"
    assert log.results.scores[0].metrics["mean"].value == 4


@pytest.mark.slow
async def test_pydantic_evals_reports_no_score_for_an_unscored_case(server: ModelServer) -> None:
    from pydantic_evals import Case, Dataset

    from judge.integrations.pydantic_evals import SlackJudge

    cases = [
        Case(name="good", inputs={"messages": CHAT}, metadata=GOOD),
        Case(name="nothing", inputs="What is 2 + 2?", metadata=NOTHING),
        Case(name="failing", inputs=["no message"], metadata=GOOD),
    ]
    outputs = iter([GOOD, NOTHING, GOOD])
    dataset = Dataset(name="sums", cases=cases, evaluators=[SlackJudge(model="small", samples=1)])
    report = await dataset.evaluate(lambda _: next(outputs), max_concurrency=1, progress=False)

    good, nothing, failing = report.cases
    score = good.scores["SlackJudge"]
    assert (score.value, score.reason) == (4, "It is right, and short.")
    assert (nothing.scores, nothing.labels["SlackJudge status"].value) == ({}, "unscored")
    assert (failing.scores, len(failing.evaluator_failures)) == ({}, 1)
    assert report.averages().scores == {"SlackJudge": 4}


@pytest.mark.slow
async def test_mlflow_gets_feedback_without_a_value_for_an_unscored_row(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # creating a database takes 2 s
    import mlflow

    from judge.integrations.mlflow import slack_judge

    monkeypatch.chdir(tmp_path)  # traces go to ./mlruns whatever the tracking URI
    mlflow.set_tracking_uri(tmp_path / "mlflow")
    rows = [
        {"inputs": {"messages": CHAT}, "outputs": GOOD},
        {"inputs": {"question": "What is 2 + 2?"}, "outputs": {"answer": NOTHING}},
    ]
    result = await asyncio.to_thread(
        mlflow.genai.evaluate, data=rows, scorers=[slack_judge(model="small")]
    )

    assert result.result_df is not None
    rows = [assessments[0] for assessments in result.result_df["assessments"]]
    good, nothing = sorted(rows, key=lambda row: "nothing to judge" in str(row["feedback"]))
    assert good["feedback"] == {"value": 4}
    assert good["source"]["source_id"] == Judge("small").version
    assert nothing["feedback"]["value"] is None
    assert nothing["feedback"]["error"]["error_code"] == "UNSCORED"
    assert result.metrics == {"slack_judge/mean": 4}


async def test_promptfoo_gets_a_score_from_0_to_1_and_the_named_score(server: ModelServer) -> None:
    context = {"prompt": json.dumps(CHAT), "vars": {}, "config": {"model": "small"}}
    # As its wrapper does: in a process without an event loop, and written as JSON.
    answer = await asyncio.to_thread(get_assert, GOOD, context)
    result = json.loads(json.dumps(answer, allow_nan=False))
    assert (result["pass"], result["score"]) == (True, 0.8)
    assert result["namedScores"] == {"slack_judge": 4}
    server.script("score: 0\nIt is wrong.")
    lowest = await asyncio.to_thread(get_assert, GOOD, context)
    assert (lowest["pass"], lowest["score"]) == (False, 0)


def test_promptfoo_reports_a_grader_error_for_an_unscored_response() -> None:
    result = get_assert(NOTHING, {"prompt": "What is 2 + 2?"})
    assert (result["pass"], result["metadata"]["graderError"]) == (False, True)
    assert "namedScores" not in result


@each(
    ("asked", "answered", "expected"),
    [
        ("plain", "[step: plain]", Dialogue("plain", "[step: plain]")),
        (
            CHAT,
            GOOD,
            Dialogue("What is 2 + 2?", GOOD, (Turn("user", "Hello"), Turn("assistant", "Hi!"))),
        ),
        ({"messages": CHAT[2:]}, {"answer": GOOD, "took": 3}, Dialogue("What is 2 + 2?", GOOD)),
        (
            "unused",
            {"messages": [*CHAT[2:], {"role": "assistant", "content": GOOD}]},
            Dialogue("What is 2 + 2?", GOOD),
        ),
    ],
)
def test_dialogue_is_found_in_the_values_that_tools_pass(
    asked: Any, answered: Any, expected: Dialogue
) -> None:
    assert find_dialogue(asked, answered) == expected


@each("value", [7, [], {}, ["text"], {"a": "x", "b": "y"}, {"messages": "x"}])
def test_a_value_without_a_text_gives_one_sentence(value: Any) -> None:
    for asked, answered in ((value, "text"), ("text", value)):
        with pytest.raises(ValueError, match="looked for"):
            find_dialogue(asked, answered)
