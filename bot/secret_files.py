"""Secrets in files of their own, which `NAME_FILE` names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource

SECRETS = frozenset({"slack_bot_token", "slack_app_token", "slack_signing_secret", "openai_api_key", "database_url"})
"""What may also stand in a file, which `NAME_FILE` names."""


@dataclass(frozen=True)
class Unread:
    """Why a file gave no secret; stands in for it, so that it is reported with all other problems."""

    problem: str


class SecretFiles(PydanticBaseSettingsSource):
    """Secrets from the files that `NAME_FILE` names, as Docker and Kubernetes mount them."""

    def __init__(self, settings_cls: type[BaseSettings], *named_in: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self.found = {
            name: value
            for source in reversed(named_in)
            if isinstance(source, EnvSettingsSource)
            for name, value in source.env_vars.items()
        }

    @property
    def paths(self) -> Sequence[Path]:
        """The files that are named."""
        named = (self.found.get(f"{name}_file") for name in sorted(SECRETS))
        return [Path(path) for path in named if path]

    def __call__(self) -> dict[str, Any]:
        """The secrets by setting; what a file does not give is an `Unread`."""
        fields = self.settings_cls.model_fields.items()
        values = {name: self.get_field_value(field, name)[0] for name, field in fields if name in SECRETS}
        return {name: value for name, value in values.items() if value is not None}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """What pydantic-settings asks of a source: the value, its name, and that it is no JSON."""
        path = self.found.get(f"{field_name}_file")
        if path and self.found.get(field_name):
            name = field_name.upper()
            return Unread(f"is set, and so is {name}_FILE; leave one of them out"), field_name, False
        return _read_secret(Path(path), f"{field_name.upper()}_FILE") if path else None, field_name, False


def _read_secret(file: Path, named_by: str) -> str | Unread:
    """What stands in the file; its name is in no problem, since it is the secret itself where that was mistaken."""
    where = f"the file that {named_by} names"
    try:
        secret = file.read_text(encoding="utf-8-sig").rstrip("\r\n")
    except OSError as exc:
        return Unread(f"{where} cannot be read ({exc.strerror}); expected the path of one that the app may read")
    except UnicodeDecodeError:
        return Unread(f"{where} is no text in UTF-8; write the secret alone into it")
    if len(secret.splitlines()) > 1:
        return Unread(f"{where} has more than one line; write the secret alone into it")
    return secret or Unread(f"{where} is empty; write the secret into it")
