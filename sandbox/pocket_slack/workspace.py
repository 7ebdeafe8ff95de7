"""The state of a pocket Slack: one workspace with one app installed.

Synchronous; no HTTP, no sockets.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from pocket_slack.clock import Clock, SystemClock, Timer
from pocket_slack.deliveries import Deliveries
from pocket_slack.errors import SandboxError, listed
from pocket_slack.executions import Executions
from pocket_slack.faults import Faults
from pocket_slack.grants import Grants
from pocket_slack.ids import Ids
from pocket_slack.journal import Journal
from pocket_slack.limits import Limits, Meter
from pocket_slack.manifest import Manifest
from pocket_slack.model import Channel, Json, UploadedFile, User, View
from pocket_slack.steps import Steps

SLACKBOT = "USLACKBOT"
SLACKBOT_NAME = "slackbot"


def to_domain(name: str) -> str:
    """A workspace's part of `https://<domain>.slack.com`: the letters and digits of its name,
    without accents.

    Raises:
        SandboxError: The name has none.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    domain = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not domain:
        raise SandboxError(
            f"the workspace's name {name!r} has no letter from a to z and no digit for its address"
        )
    return domain


class App:
    """The app under test, with the workspaces that have it.

    Attributes:
        codes: Codes of OAuth that were not used yet, with the workspace of each.
    """

    def __init__(self, id_: str, ids: Ids) -> None:
        self.id = id_
        self.token = f"xapp-1-{id_}-{ids.short(24)}"
        self.client_id = f"{int(id_[1:])}.{int(id_[1:]) + 1}"
        self.client_secret = ids.short(32).lower()
        self.verification_token = ids.short(24)
        self.signing_secret = ids.short(32).lower()
        self.workspaces: list[Workspace] = []
        self.codes: dict[str, str] = {}


class Workspace:
    """People, bots, channels and messages, and the app under test.

    Args:
        manifest: The app's manifest as a dict: its scopes, commands, shortcuts and event
            subscriptions.
        clock: Where time comes from; the machine's by default.
        limits: Rate limits; Slack's by default.
        name: The workspace's name; its domain is made from it.
        beside: Another workspace that has the same app: their payloads come over the same
            connections, and their channels and people may have the same ids.
        organisation: The enterprise id of an Enterprise Grid organisation that has installed the
            app for all its workspaces (`team_ids`); its people belong to one of them, its channels
            to all.
        declined: Those of the manifest's optional scopes that were declined at installation.

    Raises:
        SandboxError: The manifest is not a Slack manifest, no domain can be made from the name, or
            a scope that was declined is not optional.
    """

    def __init__(
        self,
        manifest: Mapping[str, Any],
        *,
        clock: Clock | None = None,
        limits: Limits | None = None,
        name: str = "Pocket",
        beside: "Workspace | None" = None,
        organisation: str | None = None,
        declined: Iterable[str] = (),
    ) -> None:
        self.clock: Clock = beside.clock if beside else clock or SystemClock()
        self.manifest = Manifest.from_dict(manifest)
        if needed := sorted(set(declined) - self.manifest.optional_scopes):
            raise SandboxError(f"only scopes in bot_optional can be declined, not {listed(needed)}")
        self.scopes = self.manifest.bot_scopes.difference(declined)
        self.name = name
        self.domain = to_domain(name)
        self.ids = Ids(self.clock)
        self.journal: Journal = beside.journal if beside else Journal(self.clock)
        self.steps = Steps(self.journal)
        limits = limits or Limits()
        self.grants = Grants(self.clock, self.ids, limits.answer_within_s)
        wait_s = limits.answer_within_s
        self.deliveries: Deliveries = (
            beside.deliveries if beside else Deliveries(self.clock, self.journal, wait_s)
        )
        self.executions = Executions(self.clock, self.ids, self.journal)
        self.meter = Meter(self.clock, limits)
        self.faults: Faults = beside.faults if beside else Faults(self.journal)
        self.users: dict[str, User] = {}
        self.webhooks: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.stacks: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}
        self.files: dict[str, UploadedFile] = {}
        # Messages for later, with the timers that post them.
        self.scheduled: dict[str, tuple[Json, Timer]] = {}
        self.usergroups: dict[str, Json] = {}
        # The workspace's own emoji: the address of each picture, by name.
        self.emoji: dict[str, str] = {}
        # By person: the assistant thread that is open, and the channel beside it.
        self.assistants: dict[str, tuple[str, str | None]] = {}
        self.statuses: dict[str, Timer] = {}
        # By a page's address: `title`, `text`, `service_name`.
        self.previews: dict[str, Json] = {}
        self.team_id = self.ids.new("T")
        app_id = self.ids.new("A")
        self.app: App = beside.app if beside else App(app_id, self.ids)
        self.app.workspaces.append(self)
        if beside:
            self.team_id = f"T{len(self.app.workspaces):08d}"
        self.enterprise_id = organisation
        self.team_ids = [self.team_id]
        self.app_id = self.app.id
        self.app_token = self.app.token
        self.verification_token = self.app.verification_token
        # Tokens that were valid, with the error that answers them now.
        self.dead_tokens: dict[str, str] = {}
        # The token of this workspace alone, after it has become one of an organisation's.
        self.own_token: str | None = None
        self.renew_token()
        self.users[SLACKBOT] = User(SLACKBOT, SLACKBOT_NAME, "Slackbot", self.team_id)
        self.bot = self.add_bot(self.manifest.bot_name, app_id=self.app_id)

    def renew_token(self) -> None:
        """Gives the bot a new token; the one before stays as it is."""
        self.bot_token = f"xoxb-{self.team_id[1:]}-{self.ids.short(24)}"

    def join(self, enterprise_id: str) -> None:
        """Becomes a workspace of an organisation, which can install the app for all; the token of
        before stays good.

        Source: https://docs.slack.dev/enterprise/migrating-to-organization-wide-deployment
        """
        self.enterprise_id = enterprise_id
        self.own_token = self.bot_token
        self.renew_token()

    def add_team(self) -> str:
        """A further workspace of the organisation; returns its id."""
        self.team_ids.append(f"{self.team_id[:-1]}{len(self.team_ids) + 1}A")
        return self.team_ids[-1]

    def add_user(self, name: str, real_name: str = "", team_id: str | None = None) -> User:
        """A new person; `name` is what others type after `@`."""
        user = User(self.ids.new("U"), name, real_name or name.title(), team_id or self.team_id)
        return self._add(user, self.users)

    def add_bot(self, name: str, app_id: str | None = None) -> User:
        """A new bot: another app's, unless `app_id` says otherwise."""
        bot_id = self.ids.new("B")
        app_id = app_id or self.ids.new("A")
        return self._add(
            User(self.ids.new("U"), name, name, self.team_id, bot_id, app_id), self.users
        )

    def add_webhook(self, name: str) -> User:
        """A new incoming webhook of another app: it posts as `name` in any channel, and is not a
        user in the API.
        """
        bot_id = self.ids.new("B")
        hook = User(bot_id, name, name, self.team_id, bot_id, self.ids.new("A"), is_webhook=True)
        return self._add(hook, self.webhooks)

    def add_usergroup(self, handle: str, members: Iterable[User], name: str = "") -> Json:
        """A new group of people, which others mention as `@handle`."""
        group: Json = {
            "id": self.ids.new("S"),
            "team_id": self.team_id,
            "is_usergroup": True,
            "name": name or handle.title(),
            "handle": handle,
            "description": "",
            "date_create": int(self.clock.now()),
            "date_delete": 0,
            "users": [member.id for member in members],
        }
        self.usergroups[group["id"]] = group
        return group

    def add_channel(
        self, name: str, members: Iterable[User] = (), is_private: bool = False
    ) -> Channel:
        """A new channel with these members, in that order; the first one is its creator."""
        ids = [member.id for member in members]
        created = int(self.clock.now())
        channel = Channel(
            self.ids.new("C"), name, created, ids[0] if ids else SLACKBOT, is_private, members=ids
        )
        self.channels[channel.id] = channel
        self.journal.record("channel", channel=channel.id, name=name)
        return channel

    def add_group(self, members: Iterable[User]) -> Channel:
        """New group direct messages between people and apps."""
        there = list(members)
        channel = self.add_channel(
            f"mpdm-{'--'.join(member.name for member in there)}-1", there, is_private=True
        )
        channel.is_mpim = True
        return channel

    def group(self, user_ids: Iterable[str]) -> Channel:
        """The group direct messages between the app and these users, opened if necessary."""
        ids = [*dict.fromkeys([*user_ids, self.bot.id])]
        groups = (channel for channel in self.channels.values() if channel.is_mpim)
        found = next((channel for channel in groups if set(channel.members) == set(ids)), None)
        return found or self.add_group(self.users[each] for each in ids)

    def user(self, name_or_id: str) -> User:
        """The user with that id or name, with or without `@`."""
        known = self.authors()
        name = name_or_id.removeprefix("@")
        found = known.get(name_or_id) or next(
            (user for user in known.values() if user.name == name), None
        )
        if found is None:
            people = listed(user.name for user in self.users.values() if user.id != SLACKBOT)
            raise SandboxError(f"no user {name_or_id!r}; there are {people}")
        return found

    def channel(self, name_or_id: str) -> Channel:
        """The channel with that id or name, with or without `#`."""
        found = self.find_channel(name_or_id)
        if found is None:
            channels = listed(
                channel.name for channel in self.channels.values() if not channel.is_im
            )
            raise SandboxError(f"no channel {name_or_id!r}; there are {channels}")
        return found

    def find_channel(self, name_or_id: str) -> Channel | None:
        """The channel with that id or name; None if there is none."""
        by_id = self.channels.get(name_or_id)
        return by_id or next(
            (c for c in self.channels.values() if c.name == name_or_id.removeprefix("#")), None
        )

    def im(self, user_id: str) -> Channel:
        """The direct messages between the app and a user, opened if necessary."""
        members = [user_id, self.bot.id]
        for channel in self.channels.values():
            if channel.is_im and channel.members == members:
                return channel
        channel = Channel(
            self.ids.new("D"),
            "directmessage",
            int(self.clock.now()),
            user_id,
            is_im=True,
            members=members,
        )
        self.channels[channel.id] = channel
        if self.manifest.is_agent:
            channel.assistant[""].prompts = list(self.manifest.prompts)
        self.journal.record("channel", channel=channel.id, opened=user_id)
        return channel

    def user_by_bot_id(self, bot_id: str) -> User | None:
        """The user of a bot, or None if there is no such bot."""
        return next((user for user in self.authors().values() if user.bot_id == bot_id), None)

    def authors(self) -> dict[str, User]:
        """All possible authors of messages, by id: users and incoming webhooks."""
        return self.users | self.webhooks

    def team(self) -> Json:
        """The `team` of an interaction payload."""
        return {"id": self.team_id, "domain": self.domain}

    def permalink(self, channel_id: str, ts: str, thread_ts: str | None = None) -> str:
        """The link to a message, as in `chat.getPermalink`."""
        link = f"https://{self.domain}.slack.com/archives/{channel_id}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread_ts}&cid={channel_id}" if thread_ts else link

    def _add(self, user: User, to: dict[str, User]) -> User:
        if any(known.name == user.name for known in self.authors().values()):
            raise SandboxError(f"there is a user {user.name!r} already")
        to[user.id] = user
        self.journal.record("user", user=user.id)
        return user
