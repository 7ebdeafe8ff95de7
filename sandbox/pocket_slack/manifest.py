"""The app's manifest: what the app may do, and what Slack's clients show of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pocket_slack.errors import SandboxError, listed
from pocket_slack.functions import Function, to_functions
from pocket_slack.gaps import gaps
from pocket_slack.model import Json

PARTS = frozenset({"display_information", "features", "functions", "oauth_config", "settings"})
"""The parts that the sandbox reads; Slack requires `display_information`: https://docs.slack.dev/reference/app-manifest"""


@dataclass(frozen=True)
class Command:
    """A slash command; `should_escape` turns mentions in its text into ids."""

    name: str
    should_escape: bool = False
    description: str = ""
    usage_hint: str = ""


@dataclass(frozen=True)
class Shortcut:
    """A shortcut; `kind` is `message` or `global`."""

    callback_id: str
    kind: str
    name: str = ""


@dataclass(frozen=True)
class Manifest:
    """The parts of a manifest that the sandbox acts on.

    `gaps` has a sentence for each thing that the manifest asks for and the sandbox does not have.

    Source: https://docs.slack.dev/reference/app-manifest
    """

    name: str = "App"
    bot_name: str = "app"
    bot_scopes: frozenset[str] = frozenset()
    optional_scopes: frozenset[str] = frozenset()
    commands: Mapping[str, Command] | None = None
    shortcuts: Mapping[str, Shortcut] | None = None
    functions: Mapping[str, Function] | None = None
    bot_events: frozenset[str] = frozenset()
    redirect_urls: tuple[str, ...] = ()
    has_home_tab: bool = False
    has_messages_tab: bool = False
    has_assistant: bool = False
    is_agent: bool = False
    prompts: tuple[Json, ...] = ()
    unfurl_domains: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, manifest: Mapping[str, Any]) -> "Manifest":
        """Reads a manifest with the content of a `manifest.yml`.

        Raises:
            SandboxError: A part does not have the shape of Slack's manifests, or all parts are
                missing.
        """
        if manifest and not PARTS.intersection(manifest):
            raise SandboxError(
                f"this is not a Slack manifest: it has none of {listed(sorted(PARTS))}"
            )
        try:
            features = manifest.get("features", {})
            bot = features.get("bot_user", {})
            tabs = features.get("app_home", {})
            settings = manifest.get("settings", {})
            name = manifest.get("display_information", {}).get("name", "App")
            is_agent = "agent_view" in features
            view = features.get("agent_view" if is_agent else "assistant_view", {})
            scopes = manifest.get("oauth_config", {}).get("scopes", {})
            bot_scopes = frozenset(scopes.get("bot", []))
            optional_scopes = frozenset(scopes.get("bot_optional", []))
            if more := sorted(optional_scopes - bot_scopes):
                raise SandboxError(f"scopes in bot_optional belong in bot, too: {listed(more)}")
            return cls(
                name=name,
                bot_name=bot.get("display_name", name),
                redirect_urls=tuple(manifest.get("oauth_config", {}).get("redirect_urls", [])),
                bot_scopes=bot_scopes,
                optional_scopes=optional_scopes,
                commands={
                    entry["command"]: Command(
                        entry["command"],
                        bool(entry.get("should_escape")),
                        entry.get("description", ""),
                        entry.get("usage_hint", ""),
                    )
                    for entry in features.get("slash_commands", [])
                },
                shortcuts={
                    entry["callback_id"]: Shortcut(
                        entry["callback_id"], entry["type"], entry.get("name", "")
                    )
                    for entry in features.get("shortcuts", [])
                },
                functions=to_functions(manifest),
                bot_events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", [])),
                has_home_tab=bool(tabs.get("home_tab_enabled")),
                has_messages_tab=bool(tabs.get("messages_tab_enabled")),
                has_assistant="assistant_view" in features and not is_agent,
                is_agent=is_agent,
                prompts=tuple(view.get("suggested_prompts", [])),
                unfurl_domains=tuple(features.get("unfurl_domains", [])),
                gaps=tuple(gaps(manifest)),
            )
        except (AttributeError, KeyError, TypeError) as exc:
            raise SandboxError(
                f"the manifest does not have the shape of a Slack manifest: {exc!r}"
            ) from exc

    def unfurl_domain(self, url: str) -> str | None:
        """Which of the app's domains a link leads to; that includes their subdomains."""
        host = urlsplit(url).hostname or ""
        for domain in self.unfurl_domains:
            if host == domain or host.endswith(f".{domain}"):
                return domain
        return None

    def command(self, name: str) -> Command:
        """The declared slash command of that name."""
        declared = self.commands or {}
        if name not in declared:
            raise SandboxError(
                f"{name} is not a command of the manifest; it declares {listed(sorted(declared))}"
            )
        return declared[name]

    def function(self, callback_id: str) -> Function:
        """The declared function with that callback id."""
        declared = self.functions or {}
        if callback_id not in declared:
            raise SandboxError(
                f"{callback_id!r} is not a function of the manifest; it declares "
                f"{listed(sorted(declared))}"
            )
        return declared[callback_id]

    def shortcut(self, callback_id: str, kind: str) -> Shortcut:
        """The declared shortcut with that callback id and kind (`message` or `global`)."""
        found = (self.shortcuts or {}).get(callback_id)
        if found is None or found.kind != kind:
            raise SandboxError(f"{callback_id!r} is not a {kind} shortcut of the manifest")
        return found
