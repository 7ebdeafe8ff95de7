"""Channels and the messages in them.

Source: https://docs.slack.dev/reference/methods?family=conversations
"""

from base64 import b64decode, b64encode

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Channel, Json, Message
from pocket_slack.posts import shown


def info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.info"""
    channel = call.channel()
    call.need(f"{channel.kind}:read")
    body = channel.to_slack(call.ws.bot.id)
    if not call.flag("include_num_members"):
        body.pop("num_members", None)
    return {"channel": body}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.list"""
    call.team()
    page, metadata = call.page([channel.to_slack(call.ws.bot.id) for channel in _listed(call)])
    return {"channels": page, "response_metadata": metadata}


def _listed(call: Call) -> list[Channel]:
    kinds = {
        _TYPES.get(kind.strip(), "")
        for kind in (call.optional("types") or "public_channel").split(",")
    }
    if "" in kinds:
        raise SlackError("invalid_types")
    for kind in kinds:
        call.need(f"{kind}:read")
    skips_archived = call.flag("exclude_archived")
    return [
        channel
        for channel in call.ws.channels.values()
        if channel.kind in kinds
        and call.can_see(channel)
        and not (channel.is_archived and skips_archived)
    ]


def of_user(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.conversations"""
    call.team()
    member_id = call.optional("user") or call.ws.bot.id
    if member_id not in call.ws.users:
        raise SlackError("user_not_found")
    found = [
        channel.to_slack(call.ws.bot.id)
        for channel in _listed(call)
        if member_id in channel.members
    ]
    page, metadata = call.page(found, highest=999)
    # The method leaves these two fields out. `_listed` has left out private channels that the app
    # is not in.
    limited = [{key: value for key, value in each.items() if key not in _NOT_SAID} for each in page]
    return {"channels": limited, "response_metadata": metadata}


def members(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.members"""
    channel = call.channel()
    call.need(f"{channel.kind}:read")
    page, metadata = call.page(channel.members)
    return {"members": page, "response_metadata": metadata}


def open_im(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.open"""
    wanted = (call.optional("users") or "").split(",")
    if wanted == [""]:
        raise SlackError("users_list_not_supplied")
    if len(wanted) > _MOST_IN_GROUP:
        raise SlackError("too_many_users")
    if not call.ws.users.keys() >= set(wanted):
        raise SlackError("user_not_found")
    call.need("im:write" if len(wanted) == 1 else "mpim:write")
    channel = call.ws.im(wanted[0]) if len(wanted) == 1 else call.ws.group(wanted)
    body = channel.to_slack(call.ws.bot.id) if call.flag("return_im") else {"id": channel.id}
    return {"channel": body}


def history(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.history

    With `oldest` alone, the first page has the messages right after it, which is how apps ask for a
    single message (https://docs.slack.dev/messaging/retrieving-messages, slackhq/slack-api-docs#4).
    A page is always newest first.
    """
    channel = call.readable()
    top = [
        message
        for message in channel.messages.values()
        if not message.is_reply or message.is_broadcast
    ]
    found = [message for message in top if _is_between(call, message)]
    is_forward = bool(call.optional("oldest")) and not call.optional("latest")
    page, metadata = _page(call, found, is_forward, default=100, highest=999)
    page.sort(key=lambda message: message.ts, reverse=True)
    return {
        **_shown(call, channel, page, metadata),
        "pin_count": len(channel.pins()),
        "channel_actions_ts": None,
        "channel_actions_count": 0,
    }


def replies(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/conversations.replies"""
    channel = call.readable()
    parent = channel.messages.get(call.text("ts"))
    if parent is None or parent.is_notice:
        raise SlackError("thread_not_found")
    found = [reply for reply in channel.replies(parent.ts) if _is_between(call, reply)]
    page, metadata = _page(call, [parent, *found], is_forward=True, default=1000, highest=1000)
    return _shown(call, channel, page, metadata)


def _shown(call: Call, channel: Channel, page: list[Message], metadata: Json) -> Json:
    with_metadata = call.flag("include_all_metadata")
    return {
        "messages": [shown(channel, message, with_metadata) for message in page],
        "has_more": bool(metadata),
        **({"response_metadata": metadata} if metadata else {}),
    }


def _page(
    call: Call, found: list[Message], is_forward: bool, default: int, highest: int
) -> tuple[list[Message], Json]:
    """A page of messages, from the oldest forwards or from the newest backwards.

    Its cursor names the next message, so that posts and deletions in between do not shift the
    pages. The `next_cursor` in https://docs.slack.dev/reference/methods/conversations.replies
    decodes to `next_ts:1484678290517091`.
    """
    limit = call.integer("limit", default, highest)
    next_ts = _from_cursor(call.optional("cursor"))
    if next_ts is not None:
        found = [
            each for each in found if (each.ts >= next_ts if is_forward else each.ts <= next_ts)
        ]
    ordered = found if is_forward else found[::-1]
    page = ordered[:limit]
    rest = ordered[limit:]
    return page, {"next_cursor": _to_cursor(rest[0].ts)} if rest else {}


def _to_cursor(ts: str) -> str:
    return b64encode(f"next_ts:{ts.replace('.', '')}".encode()).decode()


def _from_cursor(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        word, _, digits = b64decode(cursor, validate=True).decode().partition(":")
    except ValueError as exc:
        raise SlackError("invalid_cursor") from exc
    if word != "next_ts" or not digits.isdigit():
        raise SlackError("invalid_cursor")
    return f"{digits[:-6]}.{digits[-6:]}"


def _is_between(call: Call, message: Message) -> bool:
    """Whether a message is between `oldest` and `latest`; the ends count only if `inclusive`."""
    oldest = call.optional("oldest") or "0"
    latest = call.optional("latest")
    try:
        low = float(oldest)
        high = float(latest) if latest else float("inf")
        ts = float(message.ts)
    except ValueError as exc:
        raise SlackError(
            "invalid_ts_oldest" if not _is_number(oldest) else "invalid_ts_latest"
        ) from exc
    return low <= ts <= high if call.flag("inclusive") else low < ts < high


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


_MOST_IN_GROUP = 8
_NOT_SAID = {"is_member", "num_members"}
_TYPES = {"public_channel": "channels", "private_channel": "groups", "im": "im", "mpim": "mpim"}
