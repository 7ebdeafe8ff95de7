"""What 1,000 watched replies cost in each way to ask, beside other packages: `python -m
bench.watched`.

All ask one stub server, which counts requests and tokens (words and signs, in the same way for all),
and gives each the answer that it asks for, with the same reason of 45 words. One reply in ten is
low; a watch asks for its reason and for its points. Prices are those of OpenAI's list for the
default model, once without thinking, and once with 900 tokens of it in each request that does not
turn it off, as that model thinks unless it is told not to. Beside the usual ways stands the one with
`WATCH_TIER=flex`, which sends the same requests.

The other packages run in an environment of their own (`uv run --with`, from PyPI), each with a
built-in judge that reads question and response: `ClosedQA` of autoevals, `RAG_HELPFULNESS_PROMPT` of
openevals, and what is behind `LLMJudge` of pydantic-evals.
"""

import asyncio
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from bench.judging import _QUESTION, _RESPONSE
from judge import DEFAULT_MODEL, Judge, load_rubric
from judge.scoring.model.addresses import OPENAI_URL
from judge.scoring.model.completion import cost_of
from judge.scoring.model.wishes import FLEX
from judge.scoring.ways import DISTRIBUTION, TEXT

REPLIES = 100
LOW = 10
TIMES = 1_000 // REPLIES
THOUGHT = 900
PACKAGES = {
    "autoevals": ["autoevals==0.4.1", "openai==3.57.0"],
    "openevals": ["openevals==0.2.2"],
    "pydantic-evals": ["pydantic-evals==2.62.0", "pydantic-ai-slim[openai]==2.62.0"],
}
REASON = (
    "The response answers the question that was asked and explains the main cause in plain words, "
    "so that a reader without any knowledge of physics can follow it. It repeats itself, however, "
    "and it does not say why the sky is not violet, which would have been useful here."
)
_PEER = """
import sys
name, question, response, model, times = *sys.argv[1:5], int(sys.argv[5])
if name == "autoevals":
    import openai
    from autoevals import ClosedQA
    judge = ClosedQA(client=openai.OpenAI(), model=model)
    ask = lambda: judge(input=question, output=response, criteria="It is right, and complete.")
elif name == "openevals":
    from openevals.llm import create_llm_as_judge
    from openevals.prompts import RAG_HELPFULNESS_PROMPT
    judge = create_llm_as_judge(prompt=RAG_HELPFULNESS_PROMPT, model=f"openai:{model}")
    ask = lambda: judge(inputs=question, outputs=response)
else:
    import asyncio
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_evals.evaluators.llm_as_a_judge import judge_input_output
    rubric = "The response is right, and complete."
    chat = OpenAIChatModel(model)
    ask = lambda: asyncio.run(judge_input_output(question, response, rubric, chat))
for _ in range(times):
    ask()
"""


class Stub(ThreadingHTTPServer):
    """A chat completions server that counts what it reads and writes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = Lock()
        self.requests = self.read = self.written = self.thought = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message, logprobs = to_answer(body)
        asked = [body["messages"], body.get("tools", ""), body.get("response_format", "")]
        stub = self.server
        assert isinstance(stub, Stub)
        read = tokens(json.dumps(asked))
        written = tokens(json.dumps(message)) * body.get("n", 1)
        with stub.lock:
            stub.requests += 1
            stub.read += read
            stub.written += written
            stub.thought += 0 if body.get("reasoning_effort") == "none" else THOUGHT
        choice = {"message": message, "finish_reason": "stop", "logprobs": logprobs}
        choices = [{"index": index, **choice} for index in range(body.get("n", 1))]
        usage = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
        raw = json.dumps(answer | {"choices": choices, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


def tokens(text: str) -> int:
    """A count that is about that of today's models for English."""
    return len(re.findall(r"\w+|[^\w\s]", text.replace("\\n", "\n").replace('\\"', "'")))


def to_answer(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The message in the form that a request asks for, and its log probabilities."""
    prompt = str(body["messages"][-1]["content"])
    message: dict[str, Any] = {"role": "assistant", "content": None}
    form = body.get("response_format", {}).get("json_schema")
    if body.get("tools"):
        function = body["tools"][0]["function"]
        call = {
            "name": function["name"],
            "arguments": json.dumps(filled(function["parameters"])),
        }
        message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
        return message, None
    score = 1 if "(low)" in prompt else 4
    if form:
        message["content"] = json.dumps(filled(form["schema"]))
    elif body.get("logprobs"):
        message["content"] = f"score: {score}"
        parts = ("score", ":", f" {score}")
        return message, {"content": [likely(part) for part in parts]}
    elif "one line for each criterion" in prompt:
        criteria = load_rubric("additive-5").criteria
        message["content"] = "\n".join(f"{name}: no" for name in criteria)
    elif "Write its justification" in prompt:
        message["content"] = REASON
    else:
        message["content"] = f"score: {score}\n{REASON}"
    return message, None


def likely(token: str) -> dict[str, Any]:
    logprob = math.log(0.99)
    return {
        "token": token,
        "logprob": logprob,
        "top_logprobs": [{"token": token, "logprob": logprob}],
    }


def filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An object of this schema, with the reason in each free text."""
    values: dict[str, Any] = {}
    for name, field in schema["properties"].items():
        values[name] = {"boolean": True, "number": 1.0, "integer": 1}.get(
            field.get("type", ""), REASON
        )
        if "enum" in field:
            values[name] = field["enum"][0]
    return values


async def watch(url: str, ask: str) -> None:
    """Scores the replies as a watch does."""
    os.environ["OPENAI_BASE_URL"] = url
    async with Judge(DEFAULT_MODEL, ask=ask) as judge:
        for number in range(REPLIES):
            said = f"{_RESPONSE} (low)" if number < LOW else _RESPONSE
            verdict = await judge.score(_QUESTION, said)
            if number < LOW:
                verdict = await judge.with_reason(verdict, _QUESTION, said)
                await judge.with_points(verdict, _QUESTION, said)


def ask_peer(url: str, name: str) -> bool:
    """Has another package score the replies; False where it cannot be had."""
    uv = shutil.which("uv") or str(Path(".uv/bin/uv").absolute())
    extra = [part for package in PACKAGES[name] for part in ("--with", package)]
    python = [uv, "run", "--quiet", "--no-project", "--isolated", *extra, "python", "-c", _PEER]
    given = [name, _QUESTION, _RESPONSE, DEFAULT_MODEL, str(REPLIES)]
    key = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false"}
    try:
        subprocess.run([*python, *given], env=os.environ | key, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as exc:
        print(f"{name}: {str(getattr(exc, 'stderr', exc))[-300:]}", file=sys.stderr)
        return False
    return True


def price(
    requests: int, read: int, written: int, *, thought: int = 0, tier: str = "default"
) -> float:
    """The price of so many requests, each of the same size: a long one has another price."""
    each = {"prompt_tokens": read // requests, "completion_tokens": (written + thought) // requests}
    usage = each | {"total_tokens": sum(each.values())}
    answer = {"model": DEFAULT_MODEL, "usage": usage, "service_tier": tier}
    cost = cost_of(f"{OPENAI_URL}/", answer)
    assert cost is not None
    return cost * requests


def main() -> None:
    """Prints a line for each way and package."""
    print(
        f"{'1,000 watched replies':<22}{'requests':>9}{'read':>9}{'written':>9}{'USD':>8}"
        f"{'thinking':>10}"
    )
    costs = {}
    for name in (DISTRIBUTION, TEXT, *PACKAGES):
        stub = Stub()
        Thread(target=stub.serve_forever, daemon=True).start()
        if name in PACKAGES:
            is_there = ask_peer(stub.url, name)
        else:
            asyncio.run(watch(stub.url, name))
            is_there = True
        stub.shutdown()
        if not is_there:
            continue
        requests = stub.requests * TIMES
        counts = requests, stub.read * TIMES, stub.written * TIMES
        thought = stub.thought * TIMES
        costs[name] = (price(*counts), price(*counts, thought=thought))
        print_line(name, counts, costs[name])
        if name == DISTRIBUTION:
            costs[FLEX] = (price(*counts, tier=FLEX), price(*counts, thought=thought, tier=FLEX))
            print_line(f"the same, {FLEX}", counts, costs[FLEX])
    others = [costs[name] for name in PACKAGES if name in costs]
    for at, what in enumerate(("without", "with")):
        cheapest = min((each[at] for each in others), default=math.nan)
        for name in (DISTRIBUTION, FLEX):
            share = costs[name][at] / cheapest
            print(f"{what} thinking, {name} costs {share:.2f} of the cheapest package")


def print_line(name: str, counts: Sequence[int], costs: Sequence[float]) -> None:
    plain, thinking = costs
    listed = "".join(f"{count:>9,}" for count in counts)
    print(f"{name:<22}{listed}{plain:>8.3f}{thinking:>10.3f}")


if __name__ == "__main__":
    main()
