"""Events for the app: only those it subscribed to, and only from conversations that it may read.

Source: https://docs.slack.dev/reference/events
"""

from typing import Any

from pocket_slack.deliveries import Delivery
from pocket_slack.executions import Execution
from pocket_slack.model import ROOT, Channel, Json, Message, User
from pocket_slack.text import linked
from pocket_slack.workspace import Workspace

CHANNEL_TYPES = {"channels": "channel", "groups": "group", "im": "im", "mpim": "mpim"}
"""Slack's `channel_type`, by the word that scopes and event names have for it."""


def message_posted(ws: Workspace, channel: Channel, body: Json) -> None:
    """Sends `message.channels` and the like, and `app_mention`; `body` is the message as
    `posts.shown` returns it.
    """
    if body.get("subtype") != ROOT:  # of which `assistant_thread_started` tells
        _message(ws, channel, body)
        _mention(ws, channel, body)
        _link_shared(ws, channel, body)


def message_changed(ws: Workspace, channel: Channel, body: Json, before: Json) -> None:
    """Sends `message_changed`; if the text has changed, a mention is sent again, with `edited`
    (slack-go#1256).
    """
    _hidden(
        ws, channel, {"subtype": "message_changed", "message": body, "previous_message": before}
    )
    if body["text"] != before["text"]:
        _mention(ws, channel, body)


def message_deleted(ws: Workspace, channel: Channel, before: Json) -> None:
    """Sends a message event of subtype `message_deleted`."""
    _hidden(
        ws,
        channel,
        {"subtype": "message_deleted", "previous_message": before, "deleted_ts": before["ts"]},
    )


def member_joined(ws: Workspace, channel: Channel, user: User, inviter: User | None = None) -> None:
    """Sends `member_joined_channel`: https://docs.slack.dev/reference/events/member_joined_channel"""
    _membership(
        ws, "member_joined_channel", channel, user, {"inviter": inviter.id} if inviter else {}
    )


def member_left(ws: Workspace, channel: Channel, user: User) -> None:
    """Sends `member_left_channel`: https://docs.slack.dev/reference/events/member_left_channel"""
    _membership(ws, "member_left_channel", channel, user, {})


def channel_created(ws: Workspace, channel: Channel) -> None:
    """Sends `channel_created`, also to apps that are not in the channel; private ones are not told.

    Source: https://docs.slack.dev/reference/events/channel_created
    """
    names = ("id", "name", "name_normalized", "created", "creator", "is_channel", "is_shared")
    body = channel.to_slack(ws.bot.id)
    if not channel.is_private and _may(ws, channel, "read"):
        of_app(ws, {"type": "channel_created", "channel": {name: body[name] for name in names}})


def channel_event(ws: Workspace, channel: Channel, verb: str, /, **fields: Any) -> None:
    """Sends `channel_left`, `channel_archive` and the like; for private channels `group_left` and
    so on.

    Source: https://docs.slack.dev/reference/events/channel_left
    """
    name = f"{'group' if channel.is_private else 'channel'}_{verb}"
    if _may(ws, channel, "read"):
        _send(
            ws,
            name,
            channel,
            {"type": name, "channel": channel.id, **fields, "event_ts": ws.ids.ts()},
        )


def reaction(
    ws: Workspace, channel: Channel, message: Message, user: User, name: str, event: str
) -> None:
    """Sends `reaction_added` or `reaction_removed`; for a webhook's message it has no `item_user`.

    Source: https://docs.slack.dev/reference/events/reaction_added
    """
    by = {} if message.author.is_webhook else {"item_user": message.to_slack()["user"]}
    item = {
        "type": "message",
        "channel": channel.id,
        "ts": message.ts,
        "channel_type": CHANNEL_TYPES[channel.kind],
    }
    if "reactions:read" in ws.scopes:
        body = {
            "type": event,
            "user": user.id,
            "reaction": name,
            **by,
            "item": item,
            "event_ts": ws.ids.ts(),
        }
        _send(ws, event, channel, body)


def pin(ws: Workspace, channel: Channel, event: str, item: Json, count: int) -> None:
    """Sends `pin_added` or `pin_removed`: https://docs.slack.dev/reference/events/pin_added"""
    body = {
        "type": event,
        "user": ws.bot.id,
        "channel_id": channel.id,
        "item": item,
        "item_user": item["message"].get("user"),
        "pin_count": count,
        "event_ts": ws.ids.ts(),
    }
    if "pins:read" in ws.scopes:
        _send(
            ws, event, channel, body | ({"has_pins": count > 0} if event == "pin_removed" else {})
        )


def home_opened(ws: Workspace, user: User, tab: str, home: Json | None = None) -> None:
    """Sends `app_home_opened`; for the home tab it has a `view` once the app has published one."""
    channel = ws.im(user.id)
    body = {
        "type": "app_home_opened",
        "user": user.id,
        "channel": channel.id,
        "tab": tab,
        "event_ts": ws.ids.ts(),
    }
    _send(ws, "app_home_opened", channel, body | ({"view": home} if home else {}))


def assistant_thread(ws: Workspace, user: User, verb: str) -> None:
    """Sends `assistant_thread_started` and the like:
    https://docs.slack.dev/reference/events/assistant_thread_started
    """
    channel, (ts, place), name = ws.im(user.id), ws.assistants[user.id], f"assistant_thread_{verb}"
    context = (
        {"channel_id": place, "team_id": ws.team_id, "enterprise_id": ws.enterprise_id}
        if place
        else {}
    )
    thread = {"user_id": user.id, "context": context, "channel_id": channel.id, "thread_ts": ts}
    _send(ws, name, channel, {"type": name, "assistant_thread": thread, "event_ts": ws.ids.ts()})


def app_context_changed(ws: Workspace, user: User, place: str) -> None:
    """https://docs.slack.dev/reference/events/app_context_changed"""
    seen = {"type": "slack#/types/channel_id", "value": place, "team_id": ws.team_id}
    event = {"type": "app_context_changed", "context": {"entities": [seen]}}
    _send(ws, "app_context_changed", ws.im(user.id), event)


def function_executed(ws: Workspace, execution: Execution) -> Delivery:
    """Sends `function_executed`, to which an app need not subscribe.

    Source: https://docs.slack.dev/reference/events/function_executed
    """
    function = execution.function
    declared = {
        "id": f"Fn{function.callback_id.upper()}",
        "callback_id": function.callback_id,
        "title": function.title,
        "description": function.description,
        "type": "app",
        "input_parameters": [each.to_slack() for each in function.inputs],
        "output_parameters": [each.to_slack() for each in function.outputs],
        "app_id": ws.app_id,
        "date_created": 0,
        "date_updated": 0,
        "date_deleted": 0,
    }
    event = {
        "type": "function_executed",
        "function": declared,
        "inputs": execution.inputs,
        "function_execution_id": execution.id,
        "workflow_execution_id": execution.workflow_id,
        "event_ts": ws.ids.ts(),
        "bot_access_token": execution.token,
    }
    return ws.deliveries.send("events_api", _callback(ws, event))


def of_app(ws: Workspace, event: Json) -> None:
    """Sends `app_uninstalled` and others that belong to no conversation: https://docs.slack.dev/reference/events/app_uninstalled"""
    if event["type"] in ws.manifest.bot_events and ws.deliveries.is_open:
        ws.deliveries.send("events_api", _callback(ws, event | {"event_ts": ws.ids.ts()}))


def _membership(ws: Workspace, name: str, channel: Channel, user: User, more: Json) -> None:
    body = {
        "type": name,
        "user": user.id,
        "channel": channel.id,
        "channel_type": "C",
        "team": ws.team_id,
    }
    if _may(ws, channel, "read"):
        _send(ws, name, channel, {**body, **more, "event_ts": ws.ids.ts()})


def _mention(ws: Workspace, channel: Channel, body: Json) -> None:
    """Sends `app_mention`, except in direct messages:
    https://docs.slack.dev/reference/events/app_mention
    """
    is_read = "app_mentions:read" in ws.scopes and not channel.is_im
    is_notice = str(body.get("subtype")).startswith("channel_")
    if is_read and f"<@{ws.bot.id}>" in body["text"] and not is_notice:
        _send(
            ws,
            "app_mention",
            channel,
            body | {"type": "app_mention", "channel": channel.id, "event_ts": body["ts"]},
        )


def _link_shared(ws: Workspace, channel: Channel, body: Json) -> None:
    """Sends `link_shared`, also to an app that is not in the channel.

    Source: https://docs.slack.dev/reference/events/link_shared
    """
    urls = dict.fromkeys(url for url, _ in linked(body["text"]))
    domains = {url: ws.manifest.unfurl_domain(url) for url in urls}
    links = [{"domain": domain, "url": url} for url, domain in domains.items() if domain]
    is_own = body.get("user") == ws.bot.id
    if not links or is_own or "links:read" not in ws.scopes:
        return
    in_thread = {"thread_ts": body["thread_ts"]} if "thread_ts" in body else {}
    event = {
        "type": "link_shared",
        "channel": channel.id,
        "is_bot_user_member": ws.bot.id in channel.members,
        "user": body.get("user"),
        "message_ts": body["ts"],
        **in_thread,
        "unfurl_id": f"{channel.id}.{body['ts']}.{ws.ids.short(16).lower()}",
        "source": "conversations_history",
        "links": links,
    }
    of_app(ws, event)


def _may(ws: Workspace, channel: Channel, verb: str) -> bool:
    """Whether the app's scopes would let it read the same through the Web API; if not, it gets no
    event.
    """
    return f"{channel.kind}:{verb}" in ws.scopes


def _message(ws: Workspace, channel: Channel, body: Json) -> None:
    if not _may(ws, channel, "history"):
        return
    place = {
        "channel": channel.id,
        "event_ts": body["ts"],
        "channel_type": CHANNEL_TYPES[channel.kind],
    }
    _send(ws, f"message.{channel.kind}", channel, body | place)


def _hidden(ws: Workspace, channel: Channel, body: Json) -> None:
    _message(ws, channel, {"type": "message", "hidden": True, "ts": ws.ids.ts(), **body})


def _send(ws: Workspace, name: str, channel: Channel, event: Json) -> None:
    is_wanted = name in ws.manifest.bot_events and ws.bot.id in channel.members
    if not (is_wanted and ws.deliveries.is_open):
        return
    ws.deliveries.send("events_api", _callback(ws, event, channel))


def _callback(ws: Workspace, event: Json, channel: Channel | None = None) -> Json:
    """The payload of an event; in a channel of another company's, `team_id` is theirs and
    `authorizations` names ours.

    Source: https://docs.slack.dev/apis/events-api#events-JSON,
    https://docs.slack.dev/apis/slack-connect
    """
    shared_with = channel.shared_with if channel else None
    return {
        "token": ws.verification_token,
        "team_id": shared_with or ws.team_id,
        "context_team_id": ws.team_id,
        "context_enterprise_id": ws.enterprise_id,
        "api_app_id": ws.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": ws.ids.new("Ev"),
        "event_time": int(ws.clock.now()),
        "authorizations": [
            {
                "enterprise_id": ws.enterprise_id,
                "team_id": ws.team_id,
                "user_id": ws.bot.id,
                "is_bot": True,
                "is_enterprise_install": ws.enterprise_id is not None,
            }
        ],
        "is_ext_shared_channel": shared_with is not None,
        "event_context": f"4-{ws.ids.short(20)}",
    }
