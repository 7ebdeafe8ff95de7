"""The app's functions, which are workflow steps: their declarations in the manifest, and the values
that fit them.

Source: https://docs.slack.dev/tools/bolt-python/tutorial/custom-steps
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pocket_slack.errors import SandboxError, listed
from pocket_slack.model import Json

_LONGEST_ID = 100
_LONGEST_TITLE = 255


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_id(*prefixes: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value.startswith(prefixes)


def _is_ts(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\d+\.\d+", value))


def _is_message(value: Any) -> bool:
    """Source: deno-slack-sdk, src/schema/slack/types/custom/message_context.ts."""
    known = {"message_ts": _is_ts, "channel_id": _is_id("C", "D", "G"), "user_id": _is_id("U", "W")}
    is_named = isinstance(value, dict) and "message_ts" in value and value.keys() <= known.keys()
    return is_named and all(known[name](part) for name, part in value.items())


TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": _is_text,
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "slack#/types/channel_id": _is_id("C", "D", "G"),
    "slack#/types/message_context": _is_message,
    "slack#/types/message_ts": _is_ts,
    "slack#/types/user_id": _is_id("U", "W"),
}
"""A check for each type of value; https://docs.slack.dev/reference/types lists more, whose values are not checked."""


@dataclass(frozen=True)
class Parameter:
    """An input or an output of a function."""

    name: str
    type: str
    title: str = ""
    description: str = ""
    is_required: bool = False

    def to_slack(self) -> Json:
        """The parameter as in the event `function_executed`."""
        return vars(self).copy()


@dataclass(frozen=True)
class Function:
    """A function that the manifest declares: a step that people can add to a workflow."""

    callback_id: str
    title: str
    description: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]


def to_functions(manifest: Mapping[str, Any]) -> Mapping[str, Function]:
    """The declared functions, by callback id.

    Raises:
        SandboxError: Slack would not accept the manifest: `org_deploy_enabled` or
            `function_runtime: remote` is missing, or a declaration is invalid.
    """
    declared = manifest.get("functions", {})
    settings = manifest.get("settings", {})
    if declared and not settings.get("org_deploy_enabled"):
        raise SandboxError("functions ask for settings.org_deploy_enabled: true")
    if declared and settings.get("function_runtime") != "remote":
        raise SandboxError("functions of a Bolt app ask for settings.function_runtime: remote")
    return {
        callback_id: _to_function(callback_id, entry) for callback_id, entry in declared.items()
    }


def misfits(parameters: tuple[Parameter, ...], values: Mapping[str, Any]) -> list[str]:
    """What is wrong with these values, one line each: missing required values, wrong types, unknown
    names.
    """
    known = {parameter.name: parameter for parameter in parameters}
    missing = [
        name for name, each in known.items() if each.is_required and values.get(name) is None
    ]
    wrong = [
        name
        for name, value in values.items()
        if name in known
        and value is not None
        and known[name].type in TYPES
        and not TYPES[known[name].type](value)
    ]
    return [
        *(f"missing required parameter: {name}" for name in missing),
        *(f"parameter {name} is not of type {known[name].type}" for name in wrong),
        *(f"unknown parameter: {name}" for name in values if name not in known),
    ]


def _to_function(callback_id: str, entry: Mapping[str, Any]) -> Function:
    title = entry.get("title", "")
    if not (0 < len(callback_id) <= _LONGEST_ID and 0 < len(title) <= _LONGEST_TITLE):
        lengths = (
            f"a callback id has up to {_LONGEST_ID} characters, a title up to {_LONGEST_TITLE}"
        )
        raise SandboxError(f"function {callback_id!r}: {lengths}")
    inputs, outputs = (
        _to_parameters(callback_id, entry.get(f"{kind}_parameters", {}))
        for kind in ("input", "output")
    )
    return Function(callback_id, title, entry.get("description", ""), inputs, outputs)


def _to_parameters(callback_id: str, schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters from version 2 of the manifest: `properties`, and the names of those that are
    `required`.
    """
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    unknown = sorted(
        {each["type"] for each in properties.values()} - TYPES.keys() - {"array", "object"}
    )
    unknown = [each for each in unknown if not each.startswith("slack#/types/")]
    if unknown or not properties.keys() >= set(required):
        raise SandboxError(
            f"function {callback_id!r}: types are {listed(TYPES)}, and what is required is among "
            f"the properties; there are {listed(unknown)} and {listed(required)}"
        )
    return tuple(
        Parameter(
            name, each["type"], each.get("title", ""), each.get("description", ""), name in required
        )
        for name, each in properties.items()
    )
