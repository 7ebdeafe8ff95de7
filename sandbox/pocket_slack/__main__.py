"""`pocket-slack --manifest manifest.yml --port 8123`: a pocket Slack for any Bolt app."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from pocket_slack import Sandbox, SandboxError, Workspace
from pocket_slack.workspace_file import EXAMPLE, open_workspace


def main() -> int:
    """Serves until interrupted and returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="pocket-slack", description="A pocket Slack for a Bolt app."
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
    options = parser.parse_args()
    try:
        workspace = open_workspace(read_manifest(options.manifest), options.workspace)
        for gap in workspace.manifest.gaps:
            sys.stderr.write(f"pocket-slack: {gap}\n")
        asyncio.run(_serve(workspace, options.port, options.host))
    except KeyboardInterrupt:
        return 0
    except (SandboxError, OSError) as error:
        sys.stderr.write(f"pocket-slack: {error}\n")
        return 2
    return 0


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


async def _serve(workspace: Workspace, port: int, host: str) -> None:
    async with Sandbox(workspace, port, host) as slack:
        sys.stdout.write(
            f"A pocket Slack is listening on {slack.url}\n"
            "Open that address in a browser; give the app these settings:\n\n"
            f"SLACK_API_URL={slack.api_url}\n"
            f"SLACK_BOT_TOKEN={slack.bot_token}\n"
            f"SLACK_APP_TOKEN={slack.app_token}\n"
        )
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
