"""`pocket-slack --manifest manifest.yml --port 8123`: a pocket Slack for any Bolt app; and
`pocket-slack compare`, which says what a real Slack does otherwise.
"""

import argparse
import asyncio
import json
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from pocket_slack import Sandbox, SandboxError, methods
from pocket_slack.compare import DIFFERENT, Slack, compare, to_lines
from pocket_slack.compare.calls import read_calls
from pocket_slack.workspace_file import EXAMPLE, open_workspace


def main() -> int:
    """Serves until interrupted, or compares, and returns the exit code."""
    try:
        if sys.argv[1:2] == ["compare"]:
            return _compare(sys.argv[2:])
        _serve_until_interrupted(sys.argv[1:])
    except KeyboardInterrupt:
        return 0
    except (SandboxError, OSError) as error:
        sys.stderr.write(f"pocket-slack: {error}\n")
        return 2
    return 0


def _serve_until_interrupted(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        prog="pocket-slack",
        description="A pocket Slack for a Bolt app.",
        epilog="pocket-slack compare --help: what a real Slack does otherwise",
    )
    parser.add_argument(
        "--version", action="version", version=f"pocket-slack {version('pocket-slack')}"
    )
    parser.add_argument(
        "--manifest", type=Path, required=True, help="the app's manifest, YAML or JSON"
    )
    parser.add_argument(
        "--workspace", type=Path, default=EXAMPLE, help="who is there and what was said, as TOML"
    )
    parser.add_argument(
        "--port", type=int, default=0, help="where to listen (default: a free port)"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen on (default: this machine only)"
    )
    parser.add_argument(
        "--request-url", help="send payloads to this address of the app (default: Socket Mode)"
    )
    options = parser.parse_args(arguments)
    workspace = open_workspace(read_manifest(options.manifest), options.workspace)
    for gap in workspace.manifest.gaps:
        sys.stderr.write(f"pocket-slack: {gap}\n")
    asyncio.run(_serve(Sandbox(workspace, options.port, options.host, options.request_url)))


def _compare(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="pocket-slack compare",
        description="Makes an app's calls in a real Slack and here, and says what differs. It posts "
        "in a channel and deletes that afterwards; the app must not run meanwhile. The tokens are "
        "those of SLACK_BOT_TOKEN and SLACK_APP_TOKEN.",
    )
    parser.add_argument("--manifest", type=Path, required=True, help="the app's manifest")
    parser.add_argument("--calls", type=Path, required=True, help="the app's calls, as YAML")
    parser.add_argument("--channel", required=True, help="a public channel with the app in it")
    options = parser.parse_args(arguments)
    slack = Slack(
        os.environ.get("SLACK_API_URL", "https://slack.com/api/"),
        _token("SLACK_BOT_TOKEN"),
        _token("SLACK_APP_TOKEN"),
        options.channel,
    )
    manifest = read_manifest(options.manifest)
    steps = asyncio.run(compare(slack, manifest, read_calls(options.calls)))
    sys.stdout.write("\n".join(to_lines(steps)) + "\n")
    is_different = any(step.outcome == DIFFERENT for step in steps)
    return 1 if is_different else 0


def _token(name: str) -> str:
    token = os.environ.get(name)
    if not token:
        raise SandboxError(f"{name} is not set; it is a token of the real app")
    return token


def read_manifest(path: Path) -> Mapping[str, Any]:
    """The manifest in a file.

    Raises:
        SandboxError: The file is neither JSON nor YAML, or holds no mapping.
    """
    text = path.read_text(encoding="utf-8")
    manifest = _from_json(path, text) if path.suffix == ".json" else _from_yaml(path, text)
    if not isinstance(manifest, dict):
        raise SandboxError(f"{path}: a manifest is a mapping, this is {type(manifest).__name__}")
    return manifest


def _from_json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as exc:
        raise SandboxError(f"{path}: {exc}") from exc


def _from_yaml(path: Path, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as exc:
        raise SandboxError(f"{path}: {exc}") from exc


async def _serve(sandbox: Sandbox) -> None:
    async with sandbox as slack:
        sys.stdout.write(
            f"A pocket Slack is listening on {slack.url}\n"
            "Open that address in a browser; give the app these settings:\n\n"
            f"SLACK_API_URL={slack.api_url}\n"
            f"SLACK_BOT_TOKEN={slack.bot_token}\n"
            f"SLACK_APP_TOKEN={slack.app_token}\n"
            f"SLACK_SIGNING_SECRET={slack.signing_secret}\n"
            "\nMethods that are not here:\n"
            f"{textwrap.fill(' '.join(methods.NOT_HERE), 100, break_long_words=False)}\n"
        )
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
