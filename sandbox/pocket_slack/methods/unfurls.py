"""Previews that the bot gives for links to its own domains.

Source: https://docs.slack.dev/messaging/unfurling-links-in-messages#classic_unfurls
"""

from typing import Any

from pocket_slack import posts
from pocket_slack.blocks import check_blocks
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Channel, Json, Message
from pocket_slack.text import linked


def unfurl(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.unfurl"""
    channel, message = _message(call)
    unfurls = _unfurls(call)
    urls = {url for url, _ in linked(message.text)}
    for url, preview in unfurls.items():
        if call.ws.manifest.unfurl_domain(url) is None:
            raise SlackError("cannot_unfurl_url")
        if url not in urls:
            raise SlackError("cannot_unfurl_message")
        if not isinstance(preview, dict):
            raise SlackError("cannot_parse_attachment")
        check_blocks(preview.get("blocks", []))
    before = posts.shown(channel, message)
    # The first preview of a link is added, a later one takes its place; so does it with Slack's own.
    others = [each for each in message.attachments if each.get("original_url") not in unfurls]
    of_app = {"is_app_unfurl": True, "app_id": call.ws.app_id, "bot_id": call.ws.bot.bot_id}
    message.attachments = others + [
        {
            "from_url": url,
            "original_url": url,
            "app_unfurl_url": url,
            **of_app,
            "id": id_,
            **preview,
        }
        for id_, (url, preview) in enumerate(unfurls.items(), len(others) + 1)
    ]
    posts.tell_changed(call.ws, message, before)
    return {}


def _message(call: Call) -> tuple[Channel, Message]:
    """The message of `channel` and `ts`, or of an `unfurl_id`; the bot need not be there."""
    channel_id = call.optional("channel")
    ts = call.optional("ts")
    if unfurl_id := call.optional("unfurl_id"):
        if call.optional("source") != "conversations_history":
            raise SlackError("invalid_arguments", ["[ERROR] source is conversations_history here"])
        channel_id, _, rest = unfurl_id.partition(".")
        ts = rest.rpartition(".")[0]
    if not channel_id:
        raise SlackError("missing_channel")
    if not ts:
        raise SlackError("missing_ts")
    channel = call.ws.channels.get(channel_id)
    if channel is None:
        raise SlackError("cannot_find_channel")
    message = channel.messages.get(ts)
    if message is None or message.is_tombstone:
        raise SlackError("cannot_find_message")
    return channel, message


def _unfurls(call: Call) -> dict[str, Any]:
    unfurls = call.json("unfurls", "invalid_unfurls_format")
    if not unfurls:
        raise SlackError("missing_unfurls")
    if not isinstance(unfurls, dict):
        raise SlackError("invalid_unfurls_format")
    return unfurls
