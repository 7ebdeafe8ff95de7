"""What a person or a bot writes: messages, their changes, and streams."""

import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from pocket_slack import posts, previews, reactions, streaming
from pocket_slack.errors import SandboxError, SlackError
from pocket_slack.model import Channel, Message, User
from pocket_slack.posts import Content
from pocket_slack.text import to_elements, to_rich_text, to_text
from pocket_slack.workspace import Workspace

PAUSE_S = 2.0
"""Between the messages of an answer in parts."""


class Writer:
    """A person or bot who writes. Channels are given by name or id."""

    def __init__(self, workspace: Workspace, name_or_id: str) -> None:
        self.ws = workspace
        self.user = workspace.user(name_or_id)
        self.id = self.user.id

    def post(
        self,
        channel: str,
        text: str = "",
        thread_ts: str | None = None,
        is_broadcast: bool = False,
        **content: Any,
    ) -> Message:
        """Types a message, or posts as a bot.

        A person's text is escaped and gets its rich_text block; a bot's stays as it is.

        Args:
            channel: The channel; the writer must be a member.
            text: As typed: `@name`, `#channel` and links become mentions and links.
            thread_ts: The parent of the thread to reply in.
            is_broadcast: Whether a reply is also sent to the channel.
            content: `blocks`, `attachments`, `files` or `metadata` in Slack's form;
                `unfurl_links=False` and `unfurl_media=False` mean that its links get no previews.
        """
        where = self._joined(channel)
        if self.user.bot_id:
            said = Content(text, **content)
            return posts.post(self.ws, where, self.user, said, thread_ts, is_broadcast=is_broadcast)
        typed = self._typed(text, **content)
        id_ = str(uuid.uuid4())
        return posts.post(
            self.ws,
            where,
            self.user,
            typed,
            thread_ts,
            is_broadcast=is_broadcast,
            client_msg_id=id_,
        )

    def post_in_parts(
        self, channel: str, parts: Iterable[str], thread_ts: str | None = None
    ) -> None:
        """Posts several messages, as assistants do that answer in parts: each `PAUSE_S` after the
        one before.

        The first one comes once the caller is done, and so also after the message whose posting led
        to this call.
        """
        for number, text in enumerate(parts):
            self.ws.clock.call_later(number * PAUSE_S, partial(self.post, channel, text, thread_ts))

    def share(
        self, message: Message, channel: str, text: str = "", thread_ts: str | None = None
    ) -> Message:
        """Shares a message on purpose, with a text above it if there is one."""
        shared = previews.of_message(self.ws, message) | {"id": 1, "is_share": True}
        return self.post(channel, text, thread_ts, attachments=[shared])

    def edit(self, message: Message, text: str) -> None:
        """Edits the writer's own message."""
        self._own(message)
        if not text.strip():
            raise SandboxError("a message cannot be empty; delete it instead")
        self._at_rest(message)
        posts.edit(
            self.ws, message, Content(text) if self.user.bot_id else self._typed(text), self.user
        )

    def delete(self, message: Message) -> None:
        """Deletes the writer's own message."""
        self._own(message)
        self._at_rest(message)
        posts.delete(self.ws, message)

    def stream(
        self, channel: str, text: str = "", thread_ts: str | None = None, to: str | None = None
    ) -> Message:
        """Starts a message that is written piece by piece, as a bot does with `chat.startStream`.

        Args:
            channel: The channel; the writer must be a member.
            text: The first piece, as markdown; it is all that others see until the end.
            thread_ts: The parent of the thread; Slack has no streams outside of threads.
            to: The user who sees every piece; by default the parent's author.
        """
        where = self._joined(channel)
        parent = where.messages.get(thread_ts or "")
        if not self.user.bot_id or self.user.is_webhook:
            raise SandboxError(f"{self.user.name} is not a bot, and only bots stream")
        if parent is None:
            raise SandboxError("a stream is a reply: give the thread_ts of a message")
        reader = self.ws.user(to) if to else parent.author
        return streaming.start(
            self.ws, where, self.user, streaming.pieces(text), parent.ts, reader.id
        )

    def append(self, message: Message, text: str) -> None:
        """Adds a piece to the writer's own stream; only its reader sees it."""
        self._own(message)
        streaming.append(self.ws, message, streaming.pieces(text))

    def stop(self, message: Message, text: str = "", is_errored: bool = False) -> None:
        """Ends the writer's own stream, optionally with a last piece; now everyone sees all of it."""
        self._own(message)
        state = "errored" if is_errored else "completed"
        streaming.stop(self.ws, message, streaming.pieces(text), state=state)

    def react(self, message: Message, name: str) -> None:
        """Adds a reaction to a message; `name` is without colons."""
        self._reacts(reactions.add, message, name)

    def unreact(self, message: Message, name: str) -> None:
        """Removes the writer's reaction from a message."""
        self._reacts(reactions.remove, message, name)

    def sees(self, channel: Channel) -> bool:
        """Whether the writer sees the channel: they are a member or a webhook, or not a guest and
        it is public.
        """
        is_open = not (channel.is_private or channel.is_im or self.user.is_guest)
        return self.id in channel.members or is_open or self.user.is_webhook

    def _reacts(
        self, change: Callable[[Workspace, Message, User, str], None], message: Message, name: str
    ) -> None:
        self._joined(message.channel_id)
        try:
            change(self.ws, message, self.user, name)
        except SlackError as error:
            raise SandboxError(
                f"{self.user.name} cannot react with {name!r}: {error.code}"
            ) from error

    def _typed(self, text: str, **content: Any) -> Content:
        users, named = self._names()
        to_plain = partial(to_elements, users=users, channels=named)
        rich = [to_rich_text(text, to_plain, self.ws.ids.short())] if text else []
        return Content(self._text(text), **{"blocks": rich, **content})

    def _text(self, typed: str) -> str:
        return to_text(to_elements(typed, *self._names()))

    def _names(self) -> tuple[dict[str, str], dict[str, str]]:
        users = {user.name: user.id for user in self.ws.users.values()}
        return users, {channel.name: channel.id for channel in self.ws.channels.values()}

    def _seen(self, channel: str) -> Channel:
        where = self.ws.channel(channel)
        if not self.sees(where):
            raise SandboxError(f"{self.user.name} does not see {where.name}")
        return where

    def _joined(self, channel: str) -> Channel:
        where = self._seen(channel)
        if self.id not in where.members and not self.user.is_webhook:
            raise SandboxError(f"{self.user.name} is not in {where.name}")
        if where.is_archived:
            raise SandboxError(f"{where.name} is archived")
        return where

    def _own(self, message: Message) -> None:
        if message.author is not self.user:
            raise SandboxError(f"this message is {message.author.name}'s, not {self.user.name}'s")

    def _at_rest(self, message: Message) -> None:
        if message.stream is not None:
            raise SandboxError("this message is being streamed; end the stream before")
