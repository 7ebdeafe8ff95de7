"""The app's manifest, as it is pasted into Slack: the one place that says what the app may do."""

from pathlib import Path
from typing import Any

import yaml

# In a checkout beside the packages, in an installed package inside this one.
_PLACES = tuple(folder / "manifest.yml" for folder in Path(__file__).parents[1:3])


def manifest_path() -> Path:
    """Where its file is."""
    return next(place for place in _PLACES if place.exists())


def load_manifest() -> dict[str, Any]:
    """The manifest as a dict, in the form of https://docs.slack.dev/reference/app-manifest."""
    manifest: dict[str, Any] = yaml.safe_load(manifest_path().read_text(encoding="utf-8"))
    return manifest
