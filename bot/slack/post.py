"""A message that is to be sent, and its second form for a Slack that does not know all of its blocks."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog
from slack_sdk.errors import SlackApiError

from bot.slack.errors import error_of

T = TypeVar("T")

WITHOUT_PREVIEWS: Mapping[str, Any] = {"unfurl_links": False, "unfurl_media": False}
"""With each message that we post: else Slack would fetch what a link in a foreign text points to, and show it."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Post:
    """What is sent: blocks for the eye, `text` for notifications and screen readers.

    `plain_blocks` say the same to a Slack that does not know those in `blocks`; None where every Slack knows them. Two
    posts are the same that say the same.
    """

    text: str
    blocks: list[dict[str, Any]]
    plain_blocks: list[dict[str, Any]] | None = field(default=None, compare=False)

    @property
    def forms(self) -> "Sequence[Post]":
        """The post as it is, and after it the plain one, if there is one."""
        return (self,) if self.plain_blocks is None else (self, Post(self.text, self.plain_blocks))


async def send_in_known_blocks(post: Post, send: Callable[[Post], Awaitable[T]]) -> T:
    """What `send` gives for the post, or for its plain form where Slack does not know its blocks.

    Raises:
        SlackApiError: Slack will not have it, whatever its form.
    """
    try:
        return await send(post)
    except SlackApiError as exc:
        if error_of(exc) != "invalid_blocks" or post.plain_blocks is None:
            raise
        logger.info("blocks_refused")
        return await send(post.forms[-1])
