"""The objects in a workspace, and their JSON form in Slack."""

from collections import defaultdict
from dataclasses import dataclass, field
from mimetypes import guess_type
from typing import Any

from pocket_slack.clock import Timer

Json = dict[str, Any]

ROOT = "assistant_app_thread"
"""The first message of an assistant thread: https://docs.slack.dev/reference/events/message/assistant_app_thread"""


ME = "me_message"
"""What somebody does, in italics: https://docs.slack.dev/reference/events/message/me_message"""


@dataclass
class User:
    """A person, or the user of a bot, which has a `bot_id`.

    To Slack, an incoming webhook is not a user, and its messages have only a bot id. That is also
    its `id` here. `enterprise_id` is set if they are of another company's organisation.
    """

    id: str
    name: str
    real_name: str
    team_id: str
    bot_id: str | None = None
    app_id: str | None = None
    is_admin: bool = False
    is_guest: bool = False
    is_webhook: bool = False
    enterprise_id: str | None = None

    @property
    def email(self) -> str | None:
        """Their address; bots have none."""
        return None if self.bot_id else f"{self.name}@example.com"

    def to_slack(self) -> Json:
        """The user as in `users.info`: https://docs.slack.dev/reference/objects/user-object"""
        profile = {
            "real_name": self.real_name,
            "display_name": self.name,
            "real_name_normalized": self.real_name,
            "display_name_normalized": self.name,
            "team": self.team_id,
        }
        if self.bot_id:
            profile |= {"bot_id": self.bot_id, "api_app_id": self.app_id or ""}
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "deleted": False,
            "real_name": self.real_name,
            "tz": "Etc/UTC",
            "tz_label": "Coordinated Universal Time",
            "tz_offset": 0,
            "profile": profile,
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_restricted": self.is_guest,
            "is_ultra_restricted": False,
            "is_bot": self.bot_id is not None,
            "is_app_user": False,
            "updated": 0,
        }

    def bot_profile(self) -> Json:
        """The bot as in its messages and in `bots.info`."""
        return {
            "id": self.bot_id,
            "deleted": False,
            "name": self.real_name,
            "updated": 0,
            "app_id": self.app_id,
            "user_id": self.id,
            "icons": {},
            "team_id": self.team_id,
        }


@dataclass
class UploadedFile:
    """A file of the bot; `ticket` is the end of the address to which its `content` is sent, once."""

    id: str
    name: str
    length: int
    user_id: str
    ticket: str
    created: int
    content: bytes | None = None
    title: str = ""
    is_complete: bool = False
    is_deleted: bool = False

    @property
    def mimetype(self) -> str:
        """What the end of its name says that it is."""
        return guess_type(self.name)[0] or "application/octet-stream"

    def to_slack(self) -> Json:
        """https://docs.slack.dev/reference/objects/file-object"""
        if self.is_deleted:
            return {"id": self.id, "mode": "tombstone"}
        return {
            "id": self.id,
            "mode": "hosted",
            "created": self.created,
            "timestamp": self.created,
            "name": self.name,
            "title": self.title,
            "mimetype": self.mimetype,
            "size": self.length,
            "user": self.user_id,
        }


@dataclass
class Stream:
    """The pieces so far of a message that is being streamed; only `recipient_id` sees more than the
    first.

    `is_chunked` says whether they came as `chunks` or as `markdown_text`; None before the first
    piece.
    """

    recipient_id: str
    chunks: list[Json]
    is_chunked: bool | None = None
    timer: Timer | None = None


@dataclass
class AssistantThread:
    """What people see of a thread besides its messages: https://docs.slack.dev/ai/developing-agents"""

    title: str = ""
    status: str = ""
    loading_messages: list[str] = field(default_factory=list)
    prompts: list[Json] = field(default_factory=list)
    prompts_title: str = ""


@dataclass
class Message:
    """A message; an ephemeral one if `shown_to` is set, the only user who sees it.

    A notice has a `subtype`, such as `channel_join`, and further fields in `details`; so has a
    `ROOT`.
    """

    channel_id: str
    ts: str
    author: User
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    thread_ts: str | None = None
    is_broadcast: bool = False
    edited: Json | None = None
    client_msg_id: str | None = None
    shown_to: str | None = None
    is_tombstone: bool = False
    subtype: str | None = None
    details: Json = field(default_factory=dict)
    streaming_state: str | None = None
    stream: Stream | None = None
    agent_session: Json | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    pinned: Json | None = None
    values: Json = field(default_factory=dict)

    @property
    def is_reply(self) -> bool:
        """Whether it is a reply in a thread."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def is_notice(self) -> bool:
        """Whether it only tells of a change, such as somebody joining; a notice has no thread."""
        return self.subtype not in (None, ROOT, ME)

    def to_slack(self, with_metadata: bool = False) -> Json:
        """The message as in `conversations.history`, without the fields about its thread."""
        optional = {
            "subtype": self._subtype,
            "hidden": self.is_tombstone,
            "client_msg_id": self.client_msg_id,
            "blocks": self.blocks,
            "attachments": self.attachments,
            "files": self.files,
            "thread_ts": self.thread_ts,
            "edited": self.edited,
            "streaming_state": self.streaming_state,
            "agent_session": self.agent_session,
            "reactions": [
                {"name": name, "users": [*by], "count": len(by)}
                for name, by in self.reactions.items()
            ],
            "pinned_to": [self.channel_id] if self.pinned else None,
            "pinned_info": self.pinned,
            "metadata": self.metadata if with_metadata else None,
        }
        body: Json = {"type": "message", "ts": self.ts, "text": self.text, **self._signature()}
        return body | {key: value for key, value in optional.items() if value}

    @property
    def _subtype(self) -> str | None:
        """https://docs.slack.dev/reference/events/message#subtypes"""
        if self.is_tombstone:
            return "tombstone"
        if self.subtype or self.is_broadcast:
            return self.subtype or "thread_broadcast"
        return "bot_message" if self.author.is_webhook else None

    def _signature(self) -> Json:
        """The author's fields; https://docs.slack.dev/reference/events/message/bot_message has no
        `user`.
        """
        author = self.author
        if self.details:
            return self.details
        if author.is_webhook:
            return {"bot_id": author.bot_id, "username": author.name}
        bot = {
            "bot_id": author.bot_id,
            "app_id": author.app_id,
            "bot_profile": author.bot_profile(),
        }
        return {"user": author.id, "team": author.team_id, **(bot if author.bot_id else {})}


@dataclass
class Channel:
    """A channel or direct messages; `messages` are by timestamp, in the order they were posted.

    `shared_with` is the id of another company's team if the channel is a Slack Connect channel of
    theirs. Threads in `assistant` are by their parent's timestamp; "" stands for the top of an
    agent's Messages tab.
    """

    id: str
    name: str
    created: int
    creator: str
    is_private: bool = False
    is_im: bool = False
    is_mpim: bool = False
    is_archived: bool = False
    shared_with: str | None = None
    members: list[str] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    ephemerals: list[Message] = field(default_factory=list)
    topic: Json = field(default_factory=lambda: {"value": "", "creator": "", "last_set": 0})
    bookmarks: list[Json] = field(default_factory=list)
    purpose: Json = field(default_factory=lambda: {"value": "", "creator": "", "last_set": 0})
    assistant: dict[str, AssistantThread] = field(
        default_factory=lambda: defaultdict(AssistantThread)
    )
    _replies: dict[str, list[Message]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Slack's word in scopes and events: `channels`, `groups`, `im` or `mpim`."""
        if self.is_im or self.is_mpim:
            return "im" if self.is_im else "mpim"
        return "groups" if self.is_private else "channels"

    def add(self, message: Message) -> None:
        """Adds a message; if it is a reply, its parent becomes the parent of a thread."""
        self.messages[message.ts] = message
        if message.thread_ts:
            self._replies.setdefault(message.thread_ts, []).append(message)
        parent = self.messages.get(message.thread_ts or "")
        if parent and not parent.is_reply:
            parent.thread_ts = parent.ts

    def remove(self, message: Message) -> None:
        """Removes a message that has no replies."""
        del self.messages[message.ts]
        if message.thread_ts and message.is_reply:
            self._replies[message.thread_ts].remove(message)

    def replies(self, ts: str) -> list[Message]:
        """The replies under the message `ts`, oldest first."""
        return list(self._replies.get(ts, ()))

    def pins(self) -> list[Message]:
        """The messages that are pinned, oldest first."""
        return [each for each in self.messages.values() if each.pinned and not each.is_tombstone]

    def to_slack(self, viewer_id: str) -> Json:
        """The channel as in `conversations.info`:
        https://docs.slack.dev/reference/objects/conversation-object
        """
        if self.is_im:
            other = next((m for m in self.members if m != viewer_id), viewer_id)
            return {
                "id": self.id,
                "created": self.created,
                "is_im": True,
                "is_org_shared": False,
                "is_archived": self.is_archived,
                "user": other,
                "is_open": True,
            }
        return {
            "id": self.id,
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": not self.is_mpim,
            "is_group": self.is_mpim,
            "is_im": False,
            "is_mpim": self.is_mpim,
            "is_private": self.is_private,
            "is_archived": self.is_archived,
            "is_general": self.name == "general",
            "is_shared": self.shared_with is not None,
            "is_ext_shared": self.shared_with is not None,
            "is_org_shared": False,
            "is_member": viewer_id in self.members,
            "created": self.created,
            "creator": self.creator,
            "context_team_id": None,
            "num_members": len(self.members),
            "topic": self.topic,
            "purpose": self.purpose,
        }


@dataclass
class View:
    """A modal or a home tab that a user sees; `values` are what they have typed so far."""

    id: str
    user_id: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    external_id: str = ""
    values: Json = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
