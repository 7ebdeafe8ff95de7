"""The app's manifest, to be pasted into Slack: the scopes, and what is off without each."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from bot.errors import BotError

Manifest = dict[str, Any]
_FILE = "manifest.yml"

MESSAGE_EVENTS = "message-events"
"""The optional part of a manifest with which Slack sends all messages, which means more traffic."""

OFF_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "mentions of the app are not answered",
    "channels:history": "in public channels questions are not found and links not scored",
    "groups:history": "in private channels questions are not found and links not scored",
    "im:history": (
        "in direct messages questions are not found, links not scored, and messages to the app "
        "not answered"
    ),
    "mpim:history": "in group direct messages questions are not found and links not scored",
    "chat:write.public": (
        "in public channels the app is not in, only the person who asked sees the verdict"
    ),
    "reactions:read": "`/judge reaction` is refused, and thumbs are not counted",
    "reactions:write": "a watch cannot show scores as reactions",
}
"""What is off without each of the optional scopes, which can be declined at installation:
https://docs.slack.dev/authentication/installing-with-oauth#optional-scopes"""


def manifest_path() -> Path:
    inside = Path(__file__).parents[1] / _FILE  # of an installed package
    return inside if inside.exists() else Path(__file__).parents[2] / _FILE


def load_manifest(parts: Collection[str] = ()) -> Manifest:
    """The manifest with these parts; format: https://docs.slack.dev/reference/app-manifest."""
    manifest: Manifest = _load(manifest_path())
    for part in parts:
        _add(manifest, load_parts()[part])
    return manifest


def to_yaml(names: str) -> str:
    """The manifest with the parts of these names, which are separated by commas, as `judge-bot
    manifest` prints it.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    parts = load_parts()
    if unknown := [name for name in wanted if name not in parts]:
        raise BotError(
            f"--with {unknown[0]}: unknown; expected {' or '.join(parts)}; separate "
            "several by a comma"
        )
    return yaml.safe_dump(load_manifest(wanted), sort_keys=False, allow_unicode=True, width=120)


def load_parts() -> Manifest:
    """The optional parts of a manifest by their names."""
    parts: Manifest = _load(Path(__file__).with_name("manifest_parts.yml"))
    return parts


def bot_scopes() -> list[str]:
    """All scopes that the app asks for, those of `OFF_WITHOUT` included."""
    scopes: list[str] = load_manifest()["oauth_config"]["scopes"]["bot"]
    return scopes


def _load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _add(manifest: Manifest, part: Manifest) -> None:
    for name, value in part.items():
        if isinstance(value, dict):
            _add(manifest.setdefault(name, {}), value)
        elif isinstance(value, list):
            manifest.setdefault(name, []).extend(value)
        else:
            manifest[name] = value
