"""Runs the examples in the README."""

import json
import re
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_test_in_the_readme_passes(tmp_path: Path) -> None:
    for name in ("conftest.py", "test_echo.py"):
        (code,) = re.findall(rf"```python\n(# {name}\n.*?)```", README, re.DOTALL)
        (tmp_path / name).write_text(code)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_the_requests_of_the_test_for_node_do_what_it_says(tmp_path: Path) -> None:
    (code,) = re.findall(r"```js\n(// echo\.test\.mjs.*?)```", README, re.DOTALL)
    options, acts, body, state, journal = (
        re.findall(pattern, code)[0]
        for pattern in (
            r'slack", (\[.*?])',
            r'"(people/.*?)"',
            r'd", ({.*?})\)',
            r"`(state.*?)`",
            r"`(journal.*?)`",
        )
    )
    (tmp_path / "manifest.json").write_text(
        '{"features": {"slash_commands": [{"command": "/echo"}]}}'
    )
    command = [sys.executable, "-m", "pocket_slack", *json.loads(options)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as slack:
        try:
            env = dict(
                line.strip().split("=")
                for line in islice(slack.stdout or (), 6)
                if line.startswith("SLACK_")
            )
            app = App(client=WebClient(env["SLACK_BOT_TOKEN"], base_url=env["SLACK_API_URL"]))
            app.command("/echo")(lambda ack, command: ack(f'You typed "{command["text"]}".'))
            handler: Any = SocketModeHandler(app, env["SLACK_APP_TOKEN"])
            handler.connect()

            def sandbox(path: str, body: str | None = None) -> Any:
                url = env["SLACK_API_URL"].replace("/api/", f"/sandbox/{path}")
                json_type = "application/json"
                request = Request(url, body.encode() if body else None, {"Content-Type": json_type})  # noqa: S310
                return json.load(urlopen(request))  # noqa: S310

            assert sandbox(acts, re.sub(r"(\w+): ", r'"\1": ', body))["failure"] is None
            help_desk = sandbox(state.replace("${person}", "ann"))["channels"][0]
            assert [each["text"] for each in help_desk["ephemerals"]] == ['You typed "hello".']
            assert sandbox(journal.replace("${last}", "0"))[-1]["id"] > 0
            handler.close()
        finally:
            slack.send_signal(signal.SIGINT)
    assert slack.returncode == 0
