"""The Web API: a table of methods, and the one function that calls them.

Source: https://docs.slack.dev/reference/methods
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pocket_slack.errors import SlackError
from pocket_slack.methods import (
    assistant,
    auth,
    blocks,
    bookmarks,
    channels,
    chat,
    conversations,
    files,
    functions,
    modals,
    oauth,
    pins,
    reactions,
    scheduled,
    streams,
    unfurls,
    usergroups,
    users,
)
from pocket_slack.methods.call import Call
from pocket_slack.model import Json
from pocket_slack.workspace import Workspace


@dataclass(frozen=True)
class Method:
    """A method of the Web API.

    Attributes:
        run: Runs the method and returns the answer without `ok`.
        scopes: The token needs one of these; if empty, it needs none.
        tier: Slack's rate limit tier; None if special limits or no limits apply.
        takes: The kind of token it takes: `bot`, `app` or `none`.
    """

    run: Callable[[Call], Json]
    scopes: tuple[str, ...] = ()
    tier: int | None = None
    takes: str = "bot"


_WRITE = ("chat:write",)
_FILES = ("files:write",)
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")

METHODS: Mapping[str, Method] = {
    "api.test": Method(auth.api_test),
    "apps.connections.open": Method(auth.open_connection, ("connections:write",), takes="app"),
    "assistant.threads.setStatus": Method(
        assistant.set_status, ("chat:write", "assistant:write"), tier=5
    ),
    "assistant.threads.setSuggestedPrompts": Method(
        assistant.set_suggested_prompts, ("assistant:write",), tier=4
    ),
    "assistant.threads.setTitle": Method(assistant.set_title, ("assistant:write",), tier=4),
    "auth.teams.list": Method(auth.teams, tier=2),
    "auth.test": Method(auth.test),
    "blocks.validate": Method(blocks.validate),
    "bookmarks.add": Method(bookmarks.add, ("bookmarks:write",), tier=2),
    "bookmarks.list": Method(bookmarks.list_all, ("bookmarks:read",), tier=3),
    "bots.info": Method(users.bot_info, ("users:read",), tier=3),
    "chat.appendStream": Method(streams.append, _WRITE, tier=4),
    "chat.delete": Method(chat.delete, _WRITE, tier=3),
    "chat.deleteScheduledMessage": Method(scheduled.delete, _WRITE, tier=3),
    "chat.getPermalink": Method(chat.get_permalink),
    "chat.meMessage": Method(chat.me_message, _WRITE, tier=3),
    "chat.postEphemeral": Method(chat.post_ephemeral, _WRITE, tier=4),
    "chat.postMessage": Method(chat.post_message, _WRITE),
    "chat.scheduleMessage": Method(scheduled.schedule, _WRITE, tier=3),
    "chat.scheduledMessages.list": Method(scheduled.list_all, tier=3),
    "chat.startStream": Method(streams.start, _WRITE, tier=2),
    "chat.stopStream": Method(streams.stop, _WRITE, tier=2),
    "chat.unfurl": Method(unfurls.unfurl, ("links:write",), tier=3),
    "chat.update": Method(chat.update, _WRITE, tier=3),
    "conversations.archive": Method(channels.archive, channels.SCOPES, tier=2),
    "conversations.create": Method(channels.create, channels.SCOPES, tier=2),
    "conversations.history": Method(conversations.history, _HISTORY, tier=3),
    "conversations.info": Method(conversations.info, _READ, tier=3),
    "conversations.invite": Method(channels.invite, channels.INVITE_SCOPES, tier=3),
    "conversations.join": Method(channels.join, ("channels:join",), tier=3),
    "conversations.kick": Method(channels.kick, channels.SCOPES, tier=3),
    "conversations.leave": Method(channels.leave, channels.SCOPES, tier=3),
    "conversations.list": Method(conversations.list_all, _READ, tier=2),
    "conversations.members": Method(conversations.members, _READ, tier=4),
    "conversations.open": Method(conversations.open_im, ("im:write", "mpim:write"), tier=3),
    "conversations.rename": Method(channels.rename, channels.SCOPES, tier=2),
    "conversations.replies": Method(conversations.replies, _HISTORY, tier=3),
    "conversations.setPurpose": Method(channels.set_purpose, channels.TOPIC_SCOPES, tier=2),
    "conversations.setTopic": Method(channels.set_topic, channels.TOPIC_SCOPES, tier=2),
    "emoji.list": Method(reactions.emoji, ("emoji:read",), tier=2),
    "files.completeUploadExternal": Method(files.complete_upload, _FILES, tier=4),
    "files.delete": Method(files.delete, _FILES, tier=3),
    "files.getUploadURLExternal": Method(files.get_upload_url, _FILES, tier=4),
    "files.info": Method(files.info, ("files:read",), tier=4),
    "files.list": Method(files.list_all, ("files:read",), tier=3),
    "functions.completeError": Method(functions.complete_error, tier=3),
    "functions.completeSuccess": Method(functions.complete_success, tier=3),
    "oauth.v2.access": Method(oauth.access, takes="none"),
    "pins.add": Method(pins.add, ("pins:write",), tier=2),
    "pins.list": Method(pins.list_all, ("pins:read",), tier=2),
    "pins.remove": Method(pins.remove, ("pins:write",), tier=2),
    "reactions.add": Method(reactions.add, ("reactions:write",), tier=3),
    "reactions.get": Method(reactions.get, ("reactions:read",), tier=3),
    "reactions.list": Method(reactions.list_all, ("reactions:read",), tier=2),
    "reactions.remove": Method(reactions.remove, ("reactions:write",), tier=2),
    "team.info": Method(auth.team_info, ("team:read",), tier=3),
    "usergroups.list": Method(usergroups.list_all, ("usergroups:read",), tier=2),
    "usergroups.users.list": Method(usergroups.members, ("usergroups:read",), tier=2),
    "users.conversations": Method(conversations.of_user, _READ, tier=3),
    "users.getPresence": Method(users.presence, ("users:read",), tier=3),
    "users.info": Method(users.info, ("users:read",), tier=4),
    "users.list": Method(users.list_all, ("users:read",), tier=2),
    "users.lookupByEmail": Method(users.look_up_by_email, ("users:read.email",), tier=3),
    "users.profile.get": Method(users.profile, ("users.profile:read",), tier=4),
    "views.open": Method(modals.open_view, (), tier=4),
    "views.publish": Method(modals.publish, (), tier=4),
    "views.push": Method(modals.push, (), tier=4),
    "views.update": Method(modals.update, (), tier=4),
}

# Slack's methods that the sandbox does not have; `*` stands for the rest of a family.
NOT_HERE = """
admin.* agents.* apps.event.authorizations.list apps.manifest.* apps.uninstall apps.user.connection.*
auth.revoke bookmarks.edit bookmarks.remove calls.* canvases.* channels.* conversations.acceptSharedInvite
conversations.approveSharedInvite conversations.canvases.create conversations.close
conversations.declineSharedInvite conversations.externalInvitePermissions.set conversations.inviteShared
conversations.listConnectInvites conversations.mark conversations.requestSharedInvite.* conversations.unarchive
dialog.* dnd.* entity.* files.comments.delete files.remote.* files.revokePublicURL files.sharedPublicURL
files.upload groups.* im.* migration.* mpim.* oauth.access oauth.v2.exchange openid.* reminders.* rtm.* search.*
slackLists.* slackbot.* stars.* team.accessLogs team.billableInfo team.billing.info team.externalTeams.*
team.integrationLogs team.preferences.list team.profile.get tooling.* usergroups.create usergroups.disable
usergroups.enable usergroups.update usergroups.users.update users.deletePhoto users.discoverableContacts.lookup
users.identity users.profile.set users.setPhoto users.setPresence workflows.*
""".split()  # noqa: SIM905

APP_TOKEN_SCOPES = frozenset({"connections:write"})
"""An app-level token has its own scopes, which are not in the manifest; the sandbox's token has this one."""


def call(ws: Workspace, name: str, token: str | None, args: Mapping[str, Any]) -> Json:
    """The answer to one call of the Web API.

    Raises:
        SlackError: The answer is `ok: false`.
    """
    method = METHODS.get(name)
    if method is None:
        raise SlackError("unknown_method", req_method=name)
    if name != "api.test" and method.takes != "none":
        _check_token(ws, method, token)
    ws.meter.count_call(name, method.tier)
    return {"ok": True, **method.run(Call(ws, args, token))}


def scopes_of(ws: Workspace, token: str | None) -> frozenset[str]:
    """The scopes of the token; Slack sends them in the `x-oauth-scopes` header of every answer."""
    of_bot = {
        ws.bot_token,
        ws.own_token or ws.bot_token,
        *(each.token for each in ws.executions.running),
    }
    return (
        ws.scopes if token in of_bot else APP_TOKEN_SCOPES if token == ws.app_token else frozenset()
    )


def _check_token(ws: Workspace, method: Method, token: str | None) -> None:
    if not token:
        raise SlackError("not_authed")
    if token in ws.dead_tokens:
        raise SlackError(ws.dead_tokens[token])
    kind = {ws.bot_token: "bot", ws.own_token: "bot", ws.app_token: "app"}.get(token)
    if kind is None and ws.executions.of_token(token):
        kind = "bot"  # a workflow token: https://docs.slack.dev/authentication/tokens
    if kind is None:
        raise SlackError("invalid_auth")
    if kind != method.takes:
        raise SlackError("not_allowed_token_type")
    provided = scopes_of(ws, token)
    if method.scopes and not provided.intersection(method.scopes):
        raise SlackError(
            "missing_scope", needed=",".join(method.scopes), provided=",".join(sorted(provided))
        )
