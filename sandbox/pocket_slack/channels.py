"""Changes of channels: members, archiving, names and topics. Each change posts a notice in the
channel.

Source: https://docs.slack.dev/reference/events/message#subtypes
"""

from pocket_slack import events, posts
from pocket_slack.model import Channel, User
from pocket_slack.workspace import SLACKBOT, Workspace

NOTICES = {
    "channel_join": "<@{user}> has joined the channel",
    "channel_leave": "<@{user}> has left the channel",
    "channel_archive": "<@{user}> archived the channel",
    "channel_unarchive": "<@{user}> unarchived the channel",
    "channel_name": '<@{user}> has renamed the channel from "{old_name}" to "{name}"',
    "channel_topic": "<@{user}> set the channel topic: {topic}",
    "channel_purpose": "<@{user}> set the channel description: {purpose}",
}
"""The text of each notice, by subtype: https://docs.slack.dev/reference/events/message/channel_join and others."""


def create(ws: Workspace, name: str, user: User, is_private: bool) -> Channel:
    """Makes a channel, which its creator joins."""
    channel = ws.add_channel(name, is_private=is_private)
    channel.creator = user.id
    events.channel_created(ws, channel)
    join(ws, channel, user)
    return channel


def join(ws: Workspace, channel: Channel, user: User, inviter: User | None = None) -> None:
    """Adds a user to a channel, unless they are a member already."""
    if user.id in channel.members:
        return
    channel.members.append(user.id)
    ws.journal.record("channel", channel=channel.id, joined=user.id)
    events.member_joined(ws, channel, user, inviter)
    _note(ws, channel, user, "channel_join", **({"inviter": inviter.id} if inviter else {}))


def leave(ws: Workspace, channel: Channel, user: User, remover: User | None = None) -> None:
    """Removes a user from a channel.

    If it is the app, it gets `channel_left` and sees nothing more.
    """
    if user is ws.bot:
        events.channel_event(ws, channel, "left", actor_id=(remover or user).id)
    channel.members.remove(user.id)
    ws.journal.record("channel", channel=channel.id, left=user.id)
    events.member_left(ws, channel, user)
    _note(ws, channel, user, "channel_leave")


def archive(ws: Workspace, channel: Channel, user: User, is_archived: bool = True) -> None:
    """Archives or unarchives a channel."""
    channel.is_archived = is_archived
    verb = "archive" if is_archived else "unarchive"
    ws.journal.record("channel", channel=channel.id)
    events.channel_event(ws, channel, verb, user=user.id)
    _note(ws, channel, user, f"channel_{verb}")


def rename(ws: Workspace, channel: Channel, user: User, name: str) -> None:
    """Renames a channel."""
    old_name = channel.name
    channel.name = name
    ws.journal.record("channel", channel=channel.id)
    renamed = {"id": channel.id, "name": name, "created": channel.created}
    events.channel_event(ws, channel, "rename", channel=renamed)
    _note(ws, channel, user, "channel_name", old_name=old_name, name=name)


def describe(ws: Workspace, channel: Channel, user: User, field: str, words: str) -> None:
    """Sets a channel's `topic` or `purpose`."""
    setattr(channel, field, {"value": words, "creator": user.id, "last_set": int(ws.clock.now())})
    ws.journal.record("channel", channel=channel.id)
    _note(ws, channel, user, f"channel_{field}", **{field: words})


def _note(ws: Workspace, channel: Channel, user: User, subtype: str, **details: str) -> None:
    """Posts a notice as Slackbot, so that no user can edit it; its `user` is the one who made the
    change.
    """
    if not channel.is_mpim:
        text = NOTICES[subtype].format(user=user.id, **details)
        fields = {"user": user.id, **details}
        posts.post(
            ws, channel, ws.users[SLACKBOT], posts.Content(text), subtype=subtype, details=fields
        )
