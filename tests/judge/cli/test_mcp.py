"""`judge mcp`: the SDK's client talks to the real command, over stdio and over HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import ClientSession

from judge.rows.files import MOST_OF_A_LINE
from tests.judge_command import run as judge
from tests.model_server import Failure, Held, ModelServer, Stall
from tests.patience import ONLY_A_HANG_S
from tests.tables import each

if TYPE_CHECKING:  # it takes a second of each process that collects the tests
    from mcp import Client

JUDGE = Path(sys.executable).parent / "judge"
TEXTS = {"question": "Why is the sky blue?", "response": "Air scatters blue light more than red."}
GOOD = "score: 4\nClear."
LABELLED = [{"score": score, "human": score - 1} for score in (2, 3, 4, 5)] * 6


def settings(server: ModelServer) -> dict[str, str]:
    # One response at a time: a call that went on after its cancellation would block all others.
    return {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "k",
        "JUDGE_SAMPLES": "1",
        "JUDGE_CONCURRENCY": "1",
    }


async def failed(client: "Client", tool: str, **arguments: Any) -> str:
    """The error message of a call that is refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text).removeprefix(f"Error executing tool {tool}: ")  # type: ignore[union-attr]


async def scored(client: "Client", **arguments: str) -> dict[str, Any]:
    result = await client.call_tool("score", TEXTS | arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def cancel_a_call(client: "Client", server: ModelServer) -> None:
    server.script(Stall())
    call = asyncio.create_task(client.call_tool("score", TEXTS))
    await server.asked(len(server.requests) + 1)
    call.cancel()
    server.script(GOOD)


async def test_tools_answer_over_stdio(model_server: ModelServer, tmp_path: Path) -> None:
    from mcp import Client, MCPError
    from mcp.client.stdio import StdioServerParameters

    file = tmp_path / "ten.txt"
    file.write_text(
        "It is between 0 and 10.\n<question>{prompt}</question>\n<response>{response}</response>\n"
    )
    arguments = ["mcp", "--rubric", str(file)]
    parameters = StdioServerParameters(
        command=str(JUDGE), args=arguments, env=settings(model_server)
    )
    async with asyncio.timeout(ONLY_A_HANG_S), Client(parameters) as client:
        assert client.server_info.version == version("slack-judge")
        model_server.script(GOOD)
        verdict = await scored(client)
        assert (verdict["score"], verdict["justification"], verdict["rubric"]) == (
            4,
            "Clear.",
            "ten",
        )
        assert (await scored(client, rubric="code"))["rubric"] == "code"
        unscored = await scored(client, response="...")
        assert (unscored["score"], unscored["unscored_reason"]) == (None, "nothing_to_judge")

        (found,) = ((await client.call_tool("rubrics", {})).structured_content or {}).values()
        assert [(each["name"], each["scale"]) for each in found if each["is_default"]] == [
            ("ten", [0, 10])
        ]

        figures = (
            await client.call_tool("estimate", {"rows": [*LABELLED, {"score": 5}]})
        ).structured_content or {}
        assert (figures["labelled"], figures["n"], figures["scale"]) == (24, 25, [0, 5])
        assert figures["low"] < figures["mean"] < figures["high"] < figures["judge_mean"]
        ten = await client.call_tool("estimate", {"rows": LABELLED, "rubric": "ten"})
        assert (ten.structured_content or {})["scale"] == [0, 10]
        assert await failed(client, "estimate", rows=[{"score": 5}]) == (
            "label human: no line has this field; the fields are score."
        )
        assert "rows\n  List should have at least 1 item" in await failed(
            client, "estimate", rows=[]
        )

        # A rubric that a client names is never taken for a path.
        assert (await failed(client, "score", **TEXTS, rubric=str(file))).startswith(
            f"rubric {str(file)[:80]!r}: no such"
        )
        assert "no such rubric" in await failed(client, "estimate", rows=LABELLED, rubric=str(file))
        why = await failed(client, "score", question="Why?", response="y" * 100_001)
        assert why.startswith(
            "The response is 100,001 characters long, and the limit is 100,000: shorten it"
        )
        with pytest.raises(MCPError, match="longer than 10 MB: shorten the texts"):
            await client.call_tool("score", {"question": "Why?", "response": "y" * MOST_OF_A_LINE})

        model_server.script(Failure(401))
        assert "check OPENAI_API_KEY" in await failed(client, "score", **TEXTS)
        await cancel_a_call(client, model_server)
        assert (await scored(client))["score"] == 4


@pytest.mark.slow
async def test_two_clients_are_served_over_http(model_server: ModelServer) -> None:
    from mcp import Client

    pipe, env = asyncio.subprocess.PIPE, {"PATH": os.environ["PATH"], **settings(model_server)}
    server = await asyncio.create_subprocess_exec(
        JUDGE, "mcp", "--http", "0", env=env, stdout=pipe, stderr=pipe
    )
    assert server.stderr
    try:
        url = (await server.stderr.readline()).decode().removeprefix("Listening at ").strip()
        async with (
            asyncio.timeout(ONLY_A_HANG_S),
            Client(url) as ann,
            Client(url, mode="legacy") as ben,
        ):
            gate = asyncio.Event()
            model_server.script(Held(gate, GOOD))
            asked = ((client, name) for client in (ann, ben) for name in ("code", "refusal"))
            calls = [asyncio.create_task(scored(client, rubric=name)) for client, name in asked]
            await model_server.asked(1)
            for client in (
                ann,
                ben,
            ) * 5:  # without the limit, all four would reach the model by now
                await client.call_tool("rubrics", {})
            gate.set()
            assert [(await call)["rubric"] for call in calls] == ["code", "refusal"] * 2
            assert model_server.most_at_once == 1
            for client in (ann, ben):
                why = await failed(client, "score", question="Why?", response="y" * MOST_OF_A_LINE)
                assert "10,000,000 characters long" in why
                await cancel_a_call(client, model_server)
                assert (await scored(client))["score"] == 4
        # A page in a browser after DNS rebinding sends such headers.
        async with ClientSession() as page:
            for header, status in (
                ({"Host": "evil.example"}, 421),
                ({"Origin": "http://evil.example"}, 403),
            ):
                async with page.post(
                    url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=header
                ) as answer:
                    assert answer.status == status
        server.send_signal(signal.SIGINT)
        assert (await server.communicate())[0] == b""
        assert server.returncode == 130
    finally:
        if server.returncode is None:
            server.kill()


@each("address", ["0.0.0.0:8000", "here", "70000"])
def test_address_that_cannot_be_served_is_refused(address: str) -> None:
    done = judge("mcp", "--http", address, "--model", "offline")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        f"--http {address}: give PORT, or HOST:PORT with the one host name or address"
    )


def test_calls_that_cannot_be_read_get_errors() -> None:
    unread = {
        "half an emoji: \ud83d": "is not JSON of Unicode text",
        "y" * MOST_OF_A_LINE: "longer than",
    }
    lines, expected = [], []
    for separators in ((",", ":"), (", ", ": ")):
        for response, why in unread.items():
            params = {"name": "score", "arguments": {"question": "Why?", "response": response}}
            call = {"jsonrpc": "2.0", "id": len(lines), "method": "tools/call", "params": params}
            lines.append(f"{json.dumps(call, separators=separators)}\n")
            expected.append(why)
    done = subprocess.run(
        [JUDGE, "mcp", "--model", "offline"],
        input="".join(lines),
        stdout=subprocess.PIPE,
        text=True,
    )
    answers = {
        answer["id"]: answer["error"]["message"]
        for answer in map(json.loads, done.stdout.splitlines())
    }
    assert list(answers) == list(range(len(lines)))
    assert [why for i, why in enumerate(expected) if why not in answers[i]] == []
