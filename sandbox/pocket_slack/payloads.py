"""The payloads that the app receives when a person does something.

Source: https://docs.slack.dev/reference/interaction-payloads
"""

from typing import Any

from pocket_slack import views
from pocket_slack.inputs import KINDS, chosen, option_of, state_values
from pocket_slack.model import Channel, Json, Message, User, View
from pocket_slack.posts import shown
from pocket_slack.workspace import Workspace


def slash_command(ws: Workspace, user: User, channel: Channel, command: str, text: str) -> Json:
    """A slash command: https://docs.slack.dev/interactivity/implementing-slash-commands"""
    return {
        "token": ws.verification_token,
        "team_id": user.team_id if ws.enterprise_id else ws.team_id,
        **(
            {"enterprise_id": ws.enterprise_id, "enterprise_name": ws.name}
            if ws.enterprise_id
            else {}
        ),
        "team_domain": ws.domain,
        "channel_id": channel.id,
        "channel_name": _channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": command,
        "text": text,
        "api_app_id": ws.app_id,
        # A form field over HTTP, and so a string here too.
        "is_enterprise_install": str(ws.enterprise_id is not None).lower(),
        "response_url": ws.grants.new_response_url(user.id, channel.id, "commands"),
        "trigger_id": ws.grants.new_trigger(user.id),
    }


def message_shortcut(
    ws: Workspace, user: User, channel: Channel, message: Message, callback_id: str
) -> Json:
    """A shortcut in the menu of a message; the payload has the whole `message`."""
    return {
        **_interaction(ws, user, "message_action"),
        "action_ts": ws.ids.ts(),
        "channel": {"id": channel.id, "name": _channel_name(channel)},
        "callback_id": callback_id,
        "response_url": ws.grants.new_response_url(user.id, channel.id, "app"),
        "message_ts": message.ts,
        "message": shown(channel, message),
    }


def global_shortcut(ws: Workspace, user: User, callback_id: str) -> Json:
    """A shortcut that belongs to no message; it has no channel and no `response_url`."""
    return {
        **_interaction(ws, user, "shortcut"),
        "action_ts": ws.ids.ts(),
        "callback_id": callback_id,
    }


def message_action(
    ws: Workspace, user: User, channel: Channel, message: Message, action: Json
) -> Json:
    """A click or a choice in a block of a message."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.shown_to is not None,
    }
    if message.is_reply:
        container["thread_ts"] = message.thread_ts
    payload = {
        **_interaction(ws, user, "block_actions"),
        "api_app_id": ws.app_id,
        "container": container,
        "channel": {"id": channel.id, "name": _channel_name(channel)},
        "state": {"values": state_values(message.blocks, message.values)},
        "response_url": ws.grants.new_response_url(user.id, channel.id, "actions", message),
        "actions": [action],
    }
    # Slack keeps no copy of an ephemeral message, and so cannot send it.
    return payload if message.shown_to else payload | {"message": shown(channel, message)}


def view_action(ws: Workspace, user: User, view: View, action: Json) -> Json:
    """A click or a choice in a block of a modal or of the home tab."""
    return {
        **_of_view(ws, user, "block_actions"),
        "api_app_id": ws.app_id,
        "container": {"type": "view", "view_id": view.id},
        "view": views.to_slack(ws, view),
        "actions": [action],
    }


def view_submission(ws: Workspace, user: User, view: View) -> Json:
    """The submit button of a modal."""
    return {
        **_of_view(ws, user, "view_submission"),
        "api_app_id": ws.app_id,
        "view": views.to_slack(ws, view),
        "response_urls": _response_urls(ws, user, view),
    }


def view_closed(ws: Workspace, user: User, view: View, is_cleared: bool) -> Json:
    """The close button of a modal with `notify_on_close`; the payload has no `trigger_id`."""
    payload = _of_view(ws, user, "view_closed")
    del payload["trigger_id"]
    return {
        **payload,
        "api_app_id": ws.app_id,
        "view": views.to_slack(ws, view),
        "is_cleared": is_cleared,
    }


def action(ws: Workspace, block: Json, element: Json, value: Any) -> Json:
    """The entry in `actions` for an element that was clicked or set to `value`."""
    entry = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
    }
    match element["type"]:
        case "button" | "icon_button":
            entry |= {
                key: element[key] for key in ("text", "value", "style", "url") if key in element
            }
        case "feedback_buttons":
            button = option_of(
                {**element, "options": [element["positive_button"], element["negative_button"]]},
                value,
            )
            entry |= {"text": button["text"], "value": value}
        case "overflow":
            entry["selected_option"] = option_of(element, value)
        case _:
            entry |= chosen(element, value)
            initial = KINDS[element["type"]].initial
            entry |= {key: element[key] for key in ("placeholder", initial) if key in element}
    return entry | {"action_ts": ws.ids.ts()}


def _interaction(ws: Workspace, user: User, kind: str) -> Json:
    return {
        "type": kind,
        "team": ws.team() | ({"id": user.team_id} if ws.enterprise_id else {}),
        "enterprise": {"id": ws.enterprise_id, "name": ws.name} if ws.enterprise_id else None,
        "is_enterprise_install": ws.enterprise_id is not None,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "token": ws.verification_token,
        "trigger_id": ws.grants.new_trigger(user.id),
    }


def _of_view(ws: Workspace, user: User, kind: str) -> Json:
    """The `team` is the person's own; the one that has the app is `view.app_installed_team_id`
    (bolt-js#1614).
    """
    domain = ws.domain if user.team_id in ws.team_ids else "elsewhere"
    return _interaction(ws, user, kind) | {"team": {"id": user.team_id, "domain": domain}}


def _response_urls(ws: Workspace, user: User, view: View) -> list[Json]:
    """A `response_url` for each channel chosen in a select that asked for one."""
    urls = []
    for block in view.body["blocks"]:
        element = block.get("element", {})
        if not element.get("response_url_enabled"):
            continue
        state = state_values([block], view.values)[block["block_id"]][element["action_id"]]
        channel_id = state[KINDS[element["type"]].key]
        if channel_id:
            url = ws.grants.new_response_url(user.id, channel_id, "app")
            place = {"block_id": block["block_id"], "action_id": element["action_id"]}
            urls.append({**place, "channel_id": channel_id, "response_url": url})
    return urls


def _channel_name(channel: Channel) -> str:
    # Slack tells the names of private channels only to their members; apps get "privategroup".
    return "privategroup" if channel.is_private and not channel.is_mpim else channel.name
