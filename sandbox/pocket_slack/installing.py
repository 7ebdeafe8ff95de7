"""The app in several workspaces: installing it by OAuth, and removing it.

Source: https://docs.slack.dev/authentication/installing-with-oauth
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from pocket_slack import events
from pocket_slack.errors import SlackError
from pocket_slack.workspace import Workspace

GONE = "account_inactive"
REVOKED = "token_revoked"


def workspace_of(ws: Workspace, token: str | None) -> Workspace:
    """The workspace, among those with the same app, that a token is or was for; `ws` if there is
    none.
    """

    def has_token(each: Workspace) -> bool:
        of_runs = {run.token for run in each.executions.all.values()}
        return token is not None and token in {
            each.bot_token,
            each.own_token,
            *each.dead_tokens,
            *of_runs,
        }

    return next(filter(has_token, ws.app.workspaces), ws)


def approve(ws: Workspace, asked: Mapping[str, str]) -> str:
    """Where Slack sends the browser once a person has approved what the app asked for, with a code.

    Raises:
        SlackError: `bad_client_id`, `invalid_scope`, `bad_redirect_uri` or
            `invalid_team_for_non_distributed_app`.
    """
    if asked.get("client_id") != ws.app.client_id:
        raise SlackError("bad_client_id")
    if not set(asked.get("scope", "").split(",")) <= ws.manifest.bot_scopes:
        raise SlackError("invalid_scope")
    target = asked.get("redirect_uri") or next(iter(ws.manifest.redirect_urls), "")
    if not target or not any(target.startswith(each) for each in ws.manifest.redirect_urls):
        raise SlackError("bad_redirect_uri")
    team_id = asked.get("team") or ws.team_id
    if team_id not in {each.team_id for each in ws.app.workspaces}:
        raise SlackError("invalid_team_for_non_distributed_app")
    code = ws.ids.dotted()
    ws.app.codes[code] = team_id
    return f"{target}?{urlencode({'code': code, 'state': asked.get('state', '')})}"


def uninstall(ws: Workspace) -> None:
    """Removes the app: it leaves all channels, its token dies, and Slack sends `tokens_revoked`,
    `app_uninstalled`.
    """
    for channel in ws.channels.values():
        if ws.bot.id in channel.members and not channel.is_im:
            channel.members.remove(ws.bot.id)
    revoke(ws, GONE)
    events.of_app(ws, {"type": "app_uninstalled"})


def revoke(ws: Workspace, error: str = REVOKED) -> None:
    """Lets the bot's token die: from now on every call with it is answered by this error."""
    ws.dead_tokens[ws.bot_token] = error
    events.of_app(ws, {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [ws.bot.id]}})
