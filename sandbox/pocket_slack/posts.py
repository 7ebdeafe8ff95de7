"""Posts, changes and deletes messages, and sends the events about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pocket_slack import events, previews
from pocket_slack.blocks import normalised
from pocket_slack.model import ROOT, Channel, Json, Message, User
from pocket_slack.text import of_mrkdwn, to_stored, unescape
from pocket_slack.workspace import SLACKBOT, Workspace

UNTITLED = "New Assistant Thread"
STATUS_LIVES_S = 120.0
"""https://docs.slack.dev/reference/methods/assistant.threads.setStatus"""


@dataclass(frozen=True)
class Content:
    """The content of a message, and whether links in it get a preview."""

    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    metadata: Json | None = None
    unfurl_links: bool = True
    unfurl_media: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.text or self.blocks or self.attachments or self.files)


def post(
    ws: Workspace,
    channel: Channel,
    author: User,
    content: Content,
    thread_ts: str | None = None,
    **more: Any,
) -> Message:
    """Posts a message in a channel, or in the thread under `thread_ts`.

    Args:
        ws: The workspace.
        channel: The channel; the caller checks the rights.
        author: A person or a bot.
        content: The message's content.
        thread_ts: The parent's timestamp.
        more: Other fields of `Message`.
    """
    message = _new(ws, channel, author, content, thread_ts, **more)
    channel.add(message)
    if thread_ts in channel.assistant and channel.assistant[thread_ts].status and author is ws.bot:
        set_status(ws, channel, thread_ts)
    body = shown(channel, message)
    ws.journal.record("message", channel=channel.id, message=body)
    events.message_posted(ws, channel, body)
    _expect_previews(ws, message, content)
    return message


def post_ephemeral(
    ws: Workspace,
    channel: Channel,
    user_id: str,
    content: Content,
    thread_ts: str | None = None,
    author: User | None = None,
) -> Message:
    """Shows a message to one user only; it is in no history."""
    message = _new(ws, channel, author or ws.bot, content, thread_ts, shown_to=user_id)
    channel.ephemerals.append(message)
    ws.journal.record("ephemeral", channel=channel.id, user=user_id, message=message.to_slack())
    return message


def notify(ws: Workspace, channel: Channel, user_id: str, text: str) -> Message:
    """Tells one user something as Slackbot, as Slack does when a command fails."""
    return post_ephemeral(ws, channel, user_id, Content(text), author=ws.users[SLACKBOT])


def edit(ws: Workspace, message: Message, content: Content, editor: User) -> None:
    """Replaces a message's content; its metadata stays unless there is new metadata, and previews
    of its links stay.
    """
    before = shown(ws.channels[message.channel_id], message)
    if message.shown_to is None:
        message.edited = {"user": editor.id, "ts": ws.ids.ts()}
    said = unescape(content.text)
    stay = [
        each
        for each in message.attachments
        if each.get("is_share") or each.get("original_url", "\n") in said
    ]
    rewrite(ws, message, content)
    message.attachments = [*message.attachments, *stay]
    tell_changed(ws, message, before)
    _expect_previews(ws, message, content)


def rewrite(ws: Workspace, message: Message, content: Content) -> None:
    """Replaces a message's content without an event or a journal entry."""
    message.text = to_stored(content.text)
    message.attachments = content.attachments
    message.files = content.files
    message.blocks = _blocks(ws, message.author, content)
    if content.metadata is not None:
        message.metadata = content.metadata


def tell_changed(ws: Workspace, message: Message, before: Json) -> None:
    """Tells the app, and the people who see a message, that it has changed since `before`."""
    channel = ws.channels[message.channel_id]
    body = shown(channel, message)
    ws.journal.record(
        "message_changed", channel=channel.id, message=body, shown_to=message.shown_to
    )
    if message.shown_to is None:
        events.message_changed(ws, channel, body, before)


def start_assistant(ws: Workspace, channel: Channel) -> Message:
    """Posts the root of a new assistant thread, in the app's name."""
    named = {"title": UNTITLED, "title_blocks": [], "artifacts": []}
    details = {"user": ws.bot.id, "team": ws.team_id, ROOT: named}
    root = post(ws, channel, ws.bot, Content(UNTITLED), subtype=ROOT, details=details)
    root.thread_ts = root.ts
    show_thread(ws, channel, root.ts, prompts=list(ws.manifest.prompts))
    return root


def show_thread(ws: Workspace, channel: Channel, ts: str, **changes: Any) -> None:
    """Changes what people see of a thread besides its messages; a title changes an assistant
    thread's root, too.
    """
    vars(channel.assistant[ts]).update(changes)
    ws.journal.record(
        "thread", channel=channel.id, ts=ts, thread=vars(channel.assistant[ts]).copy()
    )
    parent = channel.messages.get(ts)
    if parent and parent.subtype == ROOT and "title" in changes:
        before = shown(channel, parent)
        parent.details = parent.details | {ROOT: parent.details[ROOT] | {"title": changes["title"]}}
        parent.edited = {"user": ws.bot.id, "ts": ws.ids.ts()}
        tell_changed(ws, parent, before)


def set_status(
    ws: Workspace, channel: Channel, ts: str, status: str = "", loading: Sequence[str] = ()
) -> None:
    """Shows under a thread what the app is doing, until it replies, for two minutes at most; ""
    removes it.

    The session follows: https://docs.slack.dev/ai/migrating-to-agent-messaging#compatibility-bridge
    """
    if timer := ws.statuses.pop(ts, None):
        timer.cancel()
    if status:
        ws.statuses[ts] = ws.clock.call_later(STATUS_LIVES_S, partial(set_status, ws, channel, ts))
    show_thread(ws, channel, ts, status=status, loading_messages=list(loading))
    set_session(ws, channel, ts, ws.bot, "processing" if status else "active")


def set_session(ws: Workspace, channel: Channel, ts: str, bot: User, status: str) -> None:
    """Sets a bot's status in the thread's parent: `processing` or `active`."""
    parent = channel.messages.get(ts)
    if parent is None:
        return
    before = shown(channel, parent)
    statuses = [{"agent_bot_user_id": bot.id, "status": status, "is_stoppable": False}]
    parent.agent_session = {
        "status": status,
        "agent_bot_user_ids": [bot.id],
        "agent_statuses": statuses,
    }
    tell_changed(ws, parent, before)


def delete(ws: Workspace, message: Message) -> None:
    """Deletes a message; a parent with replies becomes a tombstone."""
    channel = ws.channels[message.channel_id]
    before = shown(channel, message)
    if message.shown_to:
        channel.ephemerals.remove(message)
    elif channel.replies(message.ts):
        message.author = ws.users[SLACKBOT]
        message.text = "This message was deleted."
        message.blocks = []
        message.attachments = []
        message.files = []
        message.metadata = None
        message.is_tombstone = True
    else:
        channel.remove(message)
    ws.journal.record(
        "message_deleted", channel=channel.id, ts=message.ts, shown_to=message.shown_to
    )
    if message.is_tombstone:
        events.message_changed(ws, channel, shown(channel, message), before)
    elif message.shown_to is None:
        events.message_deleted(ws, channel, before)


def shown(channel: Channel, message: Message, with_metadata: bool = False) -> Json:
    """A message as the Web API and payloads show it, with the fields about its thread."""
    body = message.to_slack(with_metadata)
    if message.is_reply:
        return body | _of_parent(channel, message)
    replies = channel.replies(message.ts)
    if not replies:
        return body
    repliers = list(dict.fromkeys(reply.author.id for reply in replies))
    return body | {
        "reply_count": len(replies),
        "reply_users_count": len(repliers),
        "latest_reply": replies[-1].ts,
        "reply_users": repliers[:5],
        "is_locked": False,
        "subscribed": False,
    }


def _expect_previews(ws: Workspace, message: Message, content: Content) -> None:
    """Adds previews of its links a moment later; at once while the workspace is still being
    prepared.
    """
    if not message.subtype and previews.of_links(
        ws, message, content.unfurl_links, content.unfurl_media
    ):
        add = partial(_add_previews, ws, message, content)
        if ws.deliveries.is_open:
            ws.clock.call_later(previews.AFTER_S, add)
        else:
            add()


def _add_previews(ws: Workspace, message: Message, content: Content) -> None:
    channel = ws.channels[message.channel_id]
    if message.is_tombstone or message not in (*channel.messages.values(), *channel.ephemerals):
        return
    before = shown(channel, message)
    if found := previews.of_links(ws, message, content.unfurl_links, content.unfurl_media):
        message.attachments = [*message.attachments, *found]
        tell_changed(ws, message, before)


def _of_parent(channel: Channel, reply: Message) -> Json:
    """A reply's fields about its parent; a reply that was also sent to the channel has the parent
    as `root`.

    Source: https://docs.slack.dev/reference/events/message/thread_broadcast
    """
    parent = channel.messages.get(reply.thread_ts or "")
    if parent is None:
        return {}
    by = {} if parent.author.is_webhook else {"parent_user_id": parent.author.id}
    return by | ({"root": shown(channel, parent)} if reply.is_broadcast else {})


def _blocks(ws: Workspace, author: User, content: Content) -> list[Json]:
    """The blocks.

    To the app's mere text Slack adds one; that is undocumented, but Bolt's assistants rely on it.
    """
    if (
        author is ws.bot
        and content.text
        and not (content.blocks or content.attachments or content.files)
    ):
        return [of_mrkdwn(to_stored(content.text), ws.ids.short())]
    return normalised(content.blocks, ws.ids)


def _new(
    ws: Workspace,
    channel: Channel,
    author: User,
    content: Content,
    thread_ts: str | None,
    **more: Any,
) -> Message:
    return Message(
        channel.id,
        ws.ids.ts(),
        author,
        to_stored(content.text),
        normalised(content.blocks, ws.ids)
        if more.get("shown_to")
        else _blocks(ws, author, content),
        content.attachments,
        content.files,
        content.metadata,
        thread_ts,
        **more,
    )
