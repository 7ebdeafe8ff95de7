"""A permalink becomes the message that it points to."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from bot.domain.obstacle import Obstacle, ObstacleKind

_PATH = re.compile(r"/archives/([CDG][A-Z0-9]+)/p(\d{10})(\d{6})/?")


@dataclass(frozen=True)
class Permalink:
    """Where a message link points; `parent_ts` is set for a reply in a thread."""

    host: str
    channel_id: str
    message_ts: str
    parent_ts: str | None

    def is_in(self, hosts: Collection[str]) -> bool:
        """Whether the link belongs to this workspace, `hosts` being its addresses.

        Links of an Enterprise Grid organisation name the organisation, not the workspace; whether the message
        can be read is then for Slack to say.
        """
        return self.host in hosts or self.host.endswith(".enterprise.slack.com")

    def obstacle(self, hosts: Collection[str]) -> Obstacle | None:
        """What keeps the message from being read; None where the link belongs to this workspace."""
        return None if self.is_in(hosts) else Obstacle(ObstacleKind.OTHER_WORKSPACE, (self.host,))


def parse_permalink(text: str) -> Permalink | None:
    """The message that a text consists of a link to; None where the text is anything else.

    Source: https://docs.slack.dev/reference/methods/chat.getPermalink
    """
    link = text.strip().removeprefix("<").removesuffix(">").partition("|")[0].replace("&amp;", "&")
    if not link.startswith(("https://", "http://")) or any(char.isspace() for char in link):
        return None
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    match = _PATH.fullmatch(parts.path)
    if not match:
        return None
    ts = f"{match[2]}.{match[3]}"
    parent = parse_qs(parts.query).get("thread_ts", [None])[0]
    return Permalink(parts.netloc, match[1], ts, parent if parent != ts else None)
