"""Emoji reactions to messages.

Source: https://docs.slack.dev/reference/methods/reactions.add
"""

import re

from pocket_slack import events, posts
from pocket_slack.errors import SlackError
from pocket_slack.model import Message, User
from pocket_slack.workspace import Workspace

MOST_NAMES = 50
MOST_OF_ONE_USER = 23
"""Slack's reference names the errors but gives no numbers; these are guesses."""

_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(ws: Workspace, message: Message, user: User, name: str) -> None:
    """Adds a user's reaction to a message.

    Raises:
        SlackError: `invalid_name`, `already_reacted`, `too_many_emoji` or `too_many_reactions`.
    """
    reactions = message.reactions
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    if user.id in reactions.get(name, ()):
        raise SlackError("already_reacted")
    if name not in reactions and len(reactions) >= MOST_NAMES:
        raise SlackError("too_many_emoji")
    if sum(user.id in users for users in reactions.values()) >= MOST_OF_ONE_USER:
        raise SlackError("too_many_reactions")
    reactions.setdefault(name, []).append(user.id)
    _tell(ws, message, user, name, "reaction_added")


def remove(ws: Workspace, message: Message, user: User, name: str) -> None:
    """Removes a user's reaction from a message.

    Raises:
        SlackError: `invalid_name` or `no_reaction`.
    """
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    users = message.reactions.get(name, [])
    if user.id not in users:
        raise SlackError("no_reaction")
    users.remove(user.id)
    if not users:
        del message.reactions[name]
    _tell(ws, message, user, name, "reaction_removed")


def _tell(ws: Workspace, message: Message, user: User, name: str, event: str) -> None:
    channel = ws.channels[message.channel_id]
    ws.journal.record(
        "message_changed", channel=channel.id, message=posts.shown(channel, message), shown_to=None
    )
    events.reaction(ws, channel, message, user, name, event)
