"""Links at the top of a channel.

Source: https://docs.slack.dev/reference/methods?family=bookmarks
"""

import re

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json

MOST = 100

_EMOJI = re.compile(r":[a-z0-9_+'-]+:")


def add(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/bookmarks.add"""
    channel = call.channel("channel_id")
    title = call.text("title")
    if call.text("type") != "link":
        raise SlackError("invalid_bookmark_type")
    link = call.optional("link") or ""
    if not link.startswith(("http://", "https://")):
        raise SlackError("invalid_link")
    emoji = call.optional("emoji")
    if emoji and not _EMOJI.fullmatch(emoji):
        raise SlackError("invalid_emoji")
    if channel.is_archived or not call.is_member(channel):
        raise SlackError("permission_denied")
    if len(channel.bookmarks) == MOST:
        raise SlackError("too_many_bookmarks")
    bookmark = {
        "id": call.ws.ids.new("Bk"),
        "channel_id": channel.id,
        "title": title,
        "link": link,
        "emoji": emoji or "",
        "icon_url": "",
        "type": "link",
        "entity_id": None,
        "date_created": int(call.ws.clock.now()),
        "date_updated": 0,
        "rank": "",
        "last_updated_by_user_id": call.ws.bot.id,
        "last_updated_by_team_id": call.ws.team_id,
        "shortcut_id": None,
        "app_id": None,
    }
    channel.bookmarks.append(bookmark)
    return {"bookmark": bookmark}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/bookmarks.list"""
    return {"bookmarks": list(call.channel("channel_id").bookmarks)}
