"""The list that `pocket-slack compare` goes through: an app's calls, and what people do with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from pocket_slack.errors import SandboxError

UPLOAD = "upload"
"""In place of a method: sends `content` to the `url` that files.getUploadURLExternal gave."""


class Call(BaseModel):
    """A call of the Web API.

    In its arguments, `$post.ts` is the field `ts` of what the step `post` was answered; there are
    also `$CHANNEL`, `$PERSON` and `$BOT_ID`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    method: str
    arguments: dict[str, Any] = {}


class Act(BaseModel):
    """What a person does with the app.

    Attributes:
        ask: What the person in the real Slack is asked to do.
        act: The same for the person in the stand-in: a verb of `/sandbox/people/NAME/VERB`, and its
            arguments.
        payload: Fields and values by which the payload is known that Slack then sends. As `$name`,
            with the act's name, it is at hand afterwards.
        then: What is called at once, for instance with `$name.trigger_id`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    ask: str
    act: dict[str, Any]
    payload: dict[str, Any]
    then: tuple[Call, ...] = ()


class CallList(BaseModel):
    """All calls and acts, in their order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: tuple[Call, ...]
    people: tuple[Act, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of all steps, in their order."""
        names = [call.name for call in self.calls]
        for act in self.people:
            names.append(act.name)
            names += [call.name for call in act.then]
        return names


def read_calls(file: Path) -> CallList:
    """The list in a YAML file.

    Raises:
        SandboxError: The file has another form.
    """
    try:
        return CallList.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as exc:
        raise SandboxError(f"{file}: {exc}") from exc


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """A copy of arguments with what `$name.field` refers to.

    Raises:
        LookupError, TypeError: A step was not answered, or its answer has no such field.
    """
    if isinstance(value, dict):
        return {key: filled(entry, known) for key, entry in value.items()}
    if isinstance(value, list):
        return [filled(entry, known) for entry in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name, *fields = value[1:].split(".")
    target = known[name]
    for field in fields:
        target = target[int(field)] if isinstance(target, list) else target[field]
    return target


def has(payload: Any, expected: Any) -> bool:
    """Whether all that is expected is in a payload."""
    if isinstance(expected, dict):
        return isinstance(payload, dict) and all(
            key in payload and has(payload[key], value) for key, value in expected.items()
        )
    if isinstance(expected, list):
        return isinstance(payload, list) and all(map(has, payload, expected))
    return bool(payload == expected)
