"""Acting for people over HTTP, and the command line."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import aiohttp
import pytest
from slack_bolt.app.async_app import AsyncApp
from yarl import URL

from pocket_slack import Sandbox
from pocket_slack.__main__ import main


@pytest.fixture
async def http(slack: Sandbox) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(base_url=slack.url) as session:
        yield session


async def do(http: aiohttp.ClientSession, path: str, **body: Any) -> Any:
    async with http.post(f"/sandbox/{path}", json=body) as response:
        assert response.status == 200, await response.text()
        return await response.json()


async def test_another_process_can_act_for_people(
    slack: Sandbox, app: AsyncApp, http: aiohttp.ClientSession
) -> None:
    @app.command("/echo")
    async def echo(ack: Any, body: Any, client: Any) -> None:
        words = {"type": "plain_text", "text": "Words"}
        element = {"type": "plain_text_input", "action_id": "typed"}
        block = {"type": "input", "block_id": "b", "label": words, "element": element}
        view = {
            "type": "modal",
            "callback_id": "ask",
            "title": words,
            "submit": words,
            "blocks": [block],
        }
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack("opened")

    @app.view("ask")
    async def ask(ack: Any) -> None:
        await ack(response_action="errors", errors={"b": "No."})

    message = await do(http, "people/ann/post", channel="help", text="hello")
    await do(http, "people/ann/edit", channel="help", ts=message["ts"], text="hello again")
    delivery = await do(http, "people/ann/command", channel="help", command="/echo")
    assert delivery["acked_ms"] >= 0
    assert delivery["response"] == {"text": "opened"}
    assert await do(http, "people/ann/submit") == {
        "errors": {"b": "Please complete this required field."}
    }
    gone = {"a": {"typed": "x"}, "b": {"other": "x"}}
    assert "errors" in await do(http, "people/ann/submit", state=gone)
    await do(http, "people/ann/submit", state=gone | {"b": {"typed": "x", "other": "x"}})
    async with http.get("/sandbox/state", params={"as": "ann"}) as response:
        state = await response.json()
    assert [message["text"] for message in state["channels"][0]["messages"]] == ["hello again"]
    assert [message["text"] for message in state["channels"][0]["ephemerals"]] == ["opened"]
    assert [channel["name"] for channel in state["channels"]] == ["help", "random", "secret"]
    assert state["view"]["errors"] == {"b": "No."}
    assert state["view"]["state"]["values"] == {
        "b": {"typed": {"type": "plain_text_input", "value": "x"}}
    }
    await do(http, "people/ann/close")
    await do(http, "people/ann/fill", state={"b": {"typed": "x"}})


async def test_the_journal_numbers_its_entries_across_connections(
    slack: Sandbox, app: AsyncApp, http: aiohttp.ClientSession
) -> None:
    await slack.sockets.drop()
    await slack.until(lambda: len(slack.workspace.journal.of("connection")) >= 2)
    async with http.get("/sandbox/journal") as response:
        entries = await response.json()
    assert [entry["id"] for entry in entries] == list(range(1, len(entries) + 1))
    opened, closed = [entry for entry in entries if entry["kind"] == "connection"][:2]
    assert opened["connection"] == closed["connection"]


async def test_the_journal_can_be_waited_for(slack: Sandbox, http: aiohttp.ClientSession) -> None:
    last = slack.workspace.journal.record("fault", sockets="none").id
    waiting = asyncio.create_task(http.get("/sandbox/journal", params={"after": last, "wait_s": 5}))
    async with http.get("/sandbox/app"):
        assert not waiting.done()
    slack.person("ann").post("help", "news")
    response = await waiting
    entry = (await response.json())[0]
    assert (entry["kind"], entry["message"]["text"]) == ("message", "news")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/sandbox/app", {"Origin": "null"}),
        (
            "/sandbox/stream?as=ann",
            {"Host": "example.com"},
        ),  # DNS rebinding: a name that resolves to this machine
        ("/page/app.js", {"Sec-Fetch-Site": "cross-site"}),
        ("/", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"}),
    ],
)
async def test_pages_of_other_origins_cannot_control_the_sandbox(
    slack: Sandbox, http: aiohttp.ClientSession, path: str, headers: dict[str, str]
) -> None:
    async with http.get(path, headers=headers) as response:
        assert response.status == 403
        assert slack.bot_token not in await response.text()


async def test_the_sandboxs_own_page_can_control_it(
    slack: Sandbox, http: aiohttp.ClientSession
) -> None:
    async with http.get(
        "/sandbox/app", headers={"Origin": slack.url, "Sec-Fetch-Site": "same-origin"}
    ) as response:
        assert (await response.json())["bot_token"] == slack.bot_token
    async with http.get("/sandbox/people", headers={"Host": f"localhost:{slack.port}"}) as response:
        assert await response.json() == ["ann", "ben", "cat"]


async def test_a_link_from_elsewhere_leads_to_the_page(http: aiohttp.ClientSession) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    async with http.get("/", headers=headers) as response:
        assert response.status == 200
        assert response.headers["Content-Security-Policy"].startswith("default-src 'self';")


async def test_a_request_that_a_form_of_another_page_could_send_is_refused(
    http: aiohttp.ClientSession,
) -> None:
    async with http.post(
        "/sandbox/people/ann/post", data='{"channel": "help", "text": "x"}'
    ) as response:
        assert response.status == 415
        assert "the content type is not application/json" in (await response.json())["error"]


@pytest.mark.parametrize("path", ["/page/%2e%2e/server.py", "/page/none.js", "/page/parts"])
async def test_only_files_of_the_page_are_served(slack: Sandbox, path: str) -> None:
    url = URL(slack.url + path, encoded=True)
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        assert response.status == 404


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        (
            "people/zoe/post",
            {"channel": "help", "text": "x"},
            "no user 'zoe'; there are echo, ann, ben, cat, helper",
        ),
        (
            "people/ann/command",
            {"channel": "help", "command": "/no"},
            "is not a command of the manifest; it declares /echo",
        ),
        ("people/ann/edit", {"channel": "help"}, "KeyError: 'ts'"),
        ("people/ann/submit", {}, "ann has no modal open"),
        ("faults", {"method": "x", "nonsense": 1}, "nonsense"),
    ],
)
async def test_an_impossible_action_is_refused_with_the_reason(
    http: aiohttp.ClientSession, path: str, body: dict[str, Any], reason: str
) -> None:
    async with http.post(f"/sandbox/{path}", json=body) as response:
        assert response.status == 400
        assert reason in (await response.json())["error"]


async def test_faults_for_any_call_apply_until_they_are_cleared(
    slack: Sandbox, http: aiohttp.ClientSession
) -> None:
    await do(http, "faults", method="*", status=503, times=9)
    for method in ("auth.test", "chat.postMessage"):
        async with http.post(f"/api/{method}") as response:
            assert response.status == 503
    async with http.delete("/sandbox/faults") as response:
        assert response.status == 200
    async with http.post("/api/auth.test") as response:
        assert response.status == 200


async def test_the_command_starts_a_sandbox_and_prints_what_an_app_needs(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"features": {"slash_commands": [{"command": "/hi"}]}}))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "pocket_slack",
        "--manifest",
        str(manifest),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        printed = (await process.stdout.readuntil(b"workflows.*")).decode()
        address = printed.split("listening on ")[1].split()[0]
        async with aiohttp.ClientSession(base_url=address) as http:
            delivery = await do(http, "people/ann/command", channel="help-desk", command="/hi")
        assert delivery["failure"] == "dispatch_failed"
    finally:
        process.terminate()
        await process.communicate()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("manifest.json", "{", "Expecting property name"),
        ("manifest.yml", "a: [", "expected the node content"),
        ("manifest.yml", "- a", "a manifest is a mapping, this is list"),
        ("manifest.yml", "features: []", "shape of a Slack manifest"),
        (
            "manifest.json",
            '{"a": 1}',
            "this is not a Slack manifest: it has none of display_information, features",
        ),
    ],
)
def test_a_broken_manifest_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, reason: str
) -> None:
    (tmp_path / name).write_text(text)
    assert run(tmp_path / name) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.startswith("pocket-slack: ")


def run(manifest: Path, *options: str) -> int:
    with patch.object(sys, "argv", ["pocket-slack", "--manifest", str(manifest), *options]):
        return main()


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_what_the_manifest_asks_for_in_vain_is_said_first_and_an_invalid_port_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    (tmp_path / "manifest.json").write_text(
        '{"oauth_config": {"scopes": {"bot": ["calls:read", "chat:write"]}}}'
    )
    assert run(tmp_path / "manifest.json", "--port", port) == 2
    gap, said = capsys.readouterr().err.splitlines()
    assert gap == "pocket-slack: nothing here needs the scope calls:read"
    assert (
        said == f"pocket-slack: there is no port {port}; give one up to 65535, or 0 for a free one"
    )
