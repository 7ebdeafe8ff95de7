"""The app's manifests, as they are pasted into Slack: what it may do, and what is off where it may not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

Name = Literal["manifest.yml", "manifest.minimal.yml", "manifest.watch.yml", "manifest.org.yml"]
FULL: Name = "manifest.yml"
MINIMAL: Name = "manifest.minimal.yml"
"""Reads no messages, and posts only where the app was invited."""
WATCH: Name = "manifest.watch.yml"
"""Hears of every message in the channels that the app is in."""
ORG: Name = "manifest.org.yml"
"""Has the step of workflows, which asks for an app that is made for organisations."""

OFF_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "nobody who mentions the app is answered",
    "channels:history": "in public channels questions are not found and links not scored",
    "groups:history": "in private channels questions are not found and links not scored",
    "im:history": "in direct messages questions are not found, links not scored, and words to the app not answered",
    "mpim:history": "in group direct messages questions are not found and links not scored",
    "chat:write.public": "in public channels without the app verdicts go to whoever asked alone",
}
"""What is off without a scope that the app can do without."""

# In a checkout beside the packages, in an installed package inside this one.
_FOLDERS = Path(__file__).parents[1:3]


def manifest_path(name: Name = FULL) -> Path:
    return next(folder / name for folder in _FOLDERS if (folder / name).exists())


def load_manifest(name: Name = FULL) -> dict[str, Any]:
    """The manifest as a dict, in the form of https://docs.slack.dev/reference/app-manifest."""
    manifest: dict[str, Any] = yaml.safe_load(manifest_path(name).read_text(encoding="utf-8"))
    return manifest


def bot_scopes(name: Name = FULL) -> list[str]:
    scopes: list[str] = load_manifest(name)["oauth_config"]["scopes"]["bot"]
    return scopes
