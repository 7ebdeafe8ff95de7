"""One call of a Web API method: its arguments, read as Slack reads them, and its token."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pocket_slack.errors import SlackError
from pocket_slack.model import Channel, Json, Message
from pocket_slack.posts import Content
from pocket_slack.workspace import Workspace


@dataclass(frozen=True)
class Call:
    """A call whose token and scopes are valid.

    Attributes:
        args: As received: strings from a form, any JSON from a JSON body.
        token: The caller's token.
    """

    ws: Workspace
    args: Mapping[str, Any]
    token: str | None = None

    def text(self, name: str) -> str:
        """A required argument."""
        value = self.args.get(name)
        if value in (None, ""):
            raise SlackError("invalid_arguments", [f"[ERROR] missing required field: {name}"])
        return str(value)

    def optional(self, name: str) -> str | None:
        """An optional argument; None if it is missing or empty."""
        value = self.args.get(name)
        return None if value in (None, "") else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean; forms write it as `1` or `true`."""
        return str(self.args.get(name, default)).lower() in ("1", "true")

    def integer(self, name: str, default: int, highest: int, lowest: int = 1) -> int:
        """A number between `lowest` and `highest`."""
        value = self.optional(name)
        if value is None:
            return default
        if not value.isdigit() or not lowest <= int(value) <= highest:
            raise SlackError("invalid_limit" if name == "limit" else "invalid_arguments")
        return int(value)

    def json(self, name: str, error: str) -> Any:
        """An object or a list, which forms send as a JSON string; None if missing."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value) if value else None
        except json.JSONDecodeError as exc:
            raise SlackError(error) from exc

    def channel(self, name: str = "channel") -> Channel:
        """The channel of a call, by id.

        Raises:
            SlackError: `channel_not_found`, also for a private channel that the bot is not in.
        """
        channel = self.ws.channels.get(self.text(name))
        if channel is None or not self.can_see(channel):
            raise SlackError("channel_not_found")
        return channel

    def team(self) -> str:
        """The workspace that a call is about, which a token of an organisation must name.

        Raises:
            SlackError: `missing_argument` (sgratzl/slack-cleaner#101) or `team_access_not_granted`
                (bolt-js#998).
        """
        if self.ws.enterprise_id is None or self.token == self.ws.own_token:
            return self.ws.team_id
        team_id = self.optional("team_id")
        if team_id is None:
            raise SlackError("missing_argument")
        if team_id not in self.ws.team_ids:
            raise SlackError("team_access_not_granted")
        return team_id

    def can_see(self, channel: Channel) -> bool:
        """Whether the channel exists for the bot: it is public, or the bot is a member."""
        return self.is_member(channel) or not (channel.is_private or channel.is_im)

    def is_member(self, channel: Channel) -> bool:
        """Whether the bot is in the channel."""
        return self.ws.bot.id in channel.members

    def readable(self) -> Channel:
        """The channel of a call that reads messages: the bot must be a member and have the scope
        for its kind.
        """
        channel = self.channel()
        self.need(f"{channel.kind}:history")
        if not self.is_member(channel):
            raise SlackError("not_in_channel")
        return channel

    def need(self, *scopes: str) -> None:
        """Raises `missing_scope` if the app has none of these scopes."""
        provided = self.ws.scopes
        if not provided.intersection(scopes):
            raise SlackError(
                "missing_scope", needed=",".join(scopes), provided=",".join(sorted(provided))
            )

    def message(self, channel: Channel) -> Message:
        """The message that `ts` names in a channel."""
        message = channel.messages.get(self.text("ts"))
        if message is None or message.is_tombstone:
            raise SlackError("message_not_found")
        return message

    def content(self) -> Content:
        """The content for a message; `chat` checks it."""
        blocks = self.json("blocks", "invalid_blocks_format") or []
        if markdown := self.optional("markdown_text"):
            if blocks or self.optional("text"):
                raise SlackError("markdown_text_conflict")
            blocks = [{"type": "markdown", "text": markdown}]
        attachments = self.json("attachments", "invalid_attachments") or []
        metadata = self.json("metadata", "invalid_metadata_format")
        return Content(
            self.optional("text") or "",
            blocks,
            attachments,
            metadata=metadata,
            unfurl_links=self.flag("unfurl_links", default=True),
            unfurl_media=self.flag("unfurl_media", default=True),
        )

    def page(
        self, items: list[Any], default: int = 100, highest: int = 1000
    ) -> tuple[list[Any], Json]:
        """A page of `items` and its `response_metadata`:
        https://docs.slack.dev/apis/web-api/pagination
        """
        limit = self.integer("limit", default, highest)
        start = from_cursor(self.optional("cursor"))
        rest = start + limit < len(items)
        return items[start : start + limit], {
            "next_cursor": to_cursor(start + limit) if rest else ""
        }


def to_cursor(position: int) -> str:
    """An opaque cursor.

    It ends in `=`, as Slack's base64 cursors do: clients must encode that correctly in forms.
    """
    return f"next:{position}=="


def from_cursor(cursor: str | None) -> int:
    """The position that a cursor stands for."""
    if cursor is None:
        return 0
    number = cursor.removeprefix("next:").removesuffix("==")
    if not number.isdigit():
        raise SlackError("invalid_cursor")
    return int(number)
