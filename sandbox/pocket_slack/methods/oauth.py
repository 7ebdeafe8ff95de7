"""A token for a code.

Source: https://docs.slack.dev/reference/methods/oauth.v2.access
"""

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json
from pocket_slack.workspace import SLACKBOT


def access(call: Call) -> Json:
    """Uses up a code; a workspace that has the app gets the same token again, unless that is dead."""
    app = call.ws.app
    if call.optional("client_id") != app.client_id:
        raise SlackError("invalid_client_id")
    if call.optional("client_secret") != app.client_secret:
        raise SlackError("bad_client_secret")
    team_id = app.codes.pop(call.text("code"), None)
    ws = next((each for each in app.workspaces if each.team_id == team_id), None)
    if ws is None:
        raise SlackError("invalid_code")
    if ws.bot_token in ws.dead_tokens:
        ws.renew_token()
    people = [each.id for each in ws.users.values() if not each.bot_id and each.id != SLACKBOT]
    return {
        "access_token": ws.bot_token,
        "token_type": "bot",
        "scope": ",".join(sorted(ws.scopes)),
        "bot_user_id": ws.bot.id,
        "app_id": ws.app_id,
        "team": None if ws.enterprise_id else {"id": ws.team_id, "name": ws.name},
        "enterprise": {"id": ws.enterprise_id, "name": ws.name} if ws.enterprise_id else None,
        "is_enterprise_install": ws.enterprise_id is not None,
        "authed_user": {"id": people[0] if people else SLACKBOT},
    }
