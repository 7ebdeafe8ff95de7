"""Previews of links: the attachments that Slack adds to a message a moment after it was posted.

Nothing is fetched: a page's title and words come from the workspace's table `previews`, or are made
of its address.

Source: https://docs.slack.dev/messaging/unfurling-links-in-messages
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pocket_slack.blocks.messages import texts_of
from pocket_slack.model import Json, Message
from pocket_slack.text import linked, unescape
from pocket_slack.workspace import Workspace

AFTER_S = 1.0
"""How long after a message its previews come; Slack's own crawler takes as long as the page does."""

_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|webp|mp4|mp3)$", re.IGNORECASE)
_ARCHIVED = re.compile(r"/archives/(\w+)/p(\d+)(\d{6})$")


def of_links(ws: Workspace, message: Message, links: bool, media: bool) -> list[Json]:
    """The previews that a message still lacks.

    Args:
        ws: The workspace.
        message: A message, with the text and blocks that it has now.
        links: Whether pages and messages get previews, as `unfurl_links` says.
        media: Whether pictures and films do, also those that only the blocks link to, as
            `unfurl_media` says.
    """
    there = {each.get("original_url") for each in message.attachments}
    new = [url for url in _urls(message, links, media) if url not in there]
    found = [(url, _of_media(url) if _is_media(url) else _of_page(ws, url, message)) for url in new]
    shown = [{"original_url": url, **preview} for url, preview in found if preview]
    return [
        {"id": id_, **preview} for id_, preview in enumerate(shown, len(message.attachments) + 1)
    ]


def of_message(ws: Workspace, message: Message) -> Json:
    """A message as an attachment of another one."""
    channel = ws.channels[message.channel_id]
    author = message.author
    place = "Slack Conversation" if channel.is_im or channel.is_private else f"#{channel.name}"
    day = datetime.fromtimestamp(float(message.ts), UTC).strftime("%B %d, %Y %I:%M %p")
    in_thread = (
        {"is_reply_unfurl" if message.is_reply else "is_thread_root_unfurl": True}
        if message.thread_ts
        else {}
    )
    return {
        "from_url": ws.permalink(
            channel.id, message.ts, message.thread_ts if message.is_reply else None
        ),
        "ts": message.ts,
        "author_id": author.id,
        "author_name": author.real_name,
        "author_subname": author.name,
        "author_link": f"https://{ws.domain}.slack.com/team/{author.id}",
        "channel_id": channel.id,
        "channel_team": ws.team_id,
        "is_msg_unfurl": True,
        **in_thread,
        "message_blocks": [
            {
                "team": ws.team_id,
                "channel": channel.id,
                "ts": message.ts,
                "message": {"blocks": message.blocks},
            }
        ],
        **({"files": message.files} if message.files else {}),
        "fallback": f"[{day}] {author.name}: {message.text}",
        "text": message.text,
        "mrkdwn_in": ["text"],
        "footer": f"Thread in {place}" if message.thread_ts else f"Posted in {place}",
    }


def _urls(message: Message, links: bool, media: bool) -> Iterable[str]:
    in_text = [*linked(message.text)]
    everywhere = in_text + [pair for text in texts_of(message.blocks) for pair in linked(text)]
    wanted = [pair for pair in in_text if links and not _is_media(pair[0])]
    wanted += [pair for pair in everywhere if media and _is_media(pair[0])]
    # With a label that is a part of the address, a link is a mere reference.
    return dict.fromkeys(
        url for url, label in wanted if not label or label not in url.partition("://")[2]
    )


def _is_media(url: str) -> bool:
    return bool(_MEDIA.search(urlsplit(url).path))


def _of_media(url: str) -> Json:
    return {"from_url": url, "image_url": url, "fallback": urlsplit(url).path.rpartition("/")[2]}


def _of_page(ws: Workspace, url: str, message: Message) -> Json | None:
    parts = urlsplit(url)
    if parts.netloc == f"{ws.domain}.slack.com":
        found = _ARCHIVED.search(parts.path)
        channel = ws.channels.get(found[1]) if found else None
        linked_to = channel.messages.get(f"{found[2]}.{found[3]}") if found and channel else None
        # What only some may read is shown to nobody here; Slack shows it to those.
        is_open = channel and (channel.id == message.channel_id or channel.kind == "channels")
        return of_message(ws, linked_to) | {"from_url": url} if linked_to and is_open else None
    host = parts.netloc.removeprefix("www.")
    words = re.sub(
        r"[-_]+", " ", unescape(parts.path.strip("/").rpartition("/")[2]).partition(".")[0]
    )
    made = {
        "service_name": host,
        "title": words.capitalize() or host,
        "text": f"What {host} says of this page.",
    }
    page = made | ws.previews.get(url, {})
    return {
        "from_url": url,
        **page,
        "title_link": url,
        "fallback": f"{page['service_name']}: {page['title']}",
    }
