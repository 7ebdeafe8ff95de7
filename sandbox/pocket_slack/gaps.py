"""What a manifest asks for and the sandbox does not have:
https://docs.slack.dev/reference/app-manifest
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pocket_slack.functions import TYPES, to_functions

_SENT = """
app_context_changed app_home_opened app_mention app_uninstalled assistant_thread_context_changed
assistant_thread_started channel_archive channel_created channel_left channel_rename channel_unarchive
function_executed group_archive group_left group_rename group_unarchive link_shared member_joined_channel
member_left_channel message.channels message.groups message.im message.mpim pin_added pin_removed reaction_added
reaction_removed tokens_revoked
""".split()  # noqa: SIM905
# The scopes that a method or an event here needs.
NEEDED = """
app_mentions:read assistant:write bookmarks:read bookmarks:write channels:history channels:join channels:manage
channels:read channels:write.invites channels:write.topic chat:write chat:write.public commands emoji:read
files:read files:write groups:history groups:read groups:write groups:write.invites groups:write.topic
im:history im:read im:write links.embed:write links:read links:write mpim:history mpim:read mpim:write pins:read
pins:write reactions:read reactions:write team:read usergroups:read users.profile:read users:read
users:read.email
""".split()  # noqa: SIM905
_USED = """
$schema _metadata app_directory display_information features.agent_view.agent_description
features.agent_view.suggested_prompts features.app_home.home_tab_enabled features.app_home.messages_tab_enabled
features.assistant_view.assistant_description features.assistant_view.suggested_prompts features.bot_user
features.shortcuts features.slash_commands features.unfurl_domains functions oauth_config.redirect_urls
oauth_config.scopes.bot oauth_config.scopes.bot_optional settings.event_subscriptions.bot_events
settings.event_subscriptions.request_url settings.function_runtime settings.interactivity.is_enabled
settings.interactivity.request_url settings.org_deploy_enabled settings.socket_mode_enabled
""".split()  # noqa: SIM905


def gaps(manifest: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each event, scope, setting and type of value that the sandbox does not have."""
    settings = manifest.get("settings", {})
    events = settings.get("event_subscriptions", {}).get("bot_events", [])
    scopes = manifest.get("oauth_config", {}).get("scopes", {}).get("bot", [])
    yield from (f"the event {name} is never sent" for name in events if name not in _SENT)
    yield from (f"nothing here needs the scope {name}" for name in scopes if name not in NEEDED)
    yield from (f"{path} has no effect" for path in _without_effect(manifest))
    if settings and not settings.get("socket_mode_enabled"):
        yield "payloads come over Socket Mode unless there is a --request-url, whatever the settings say"
    for function in to_functions(manifest).values():
        for each in (*function.inputs, *function.outputs):
            if each.type not in TYPES:
                yield (
                    f"values of type {each.type} are not checked: {each.name} of the step "
                    f"{function.callback_id}"
                )


def _without_effect(part: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in part.items():
        path = f"{above}{key}"
        if path not in _USED and isinstance(value, dict):
            yield from _without_effect(value, f"{path}.")
        elif path not in _USED and value:
            yield path
