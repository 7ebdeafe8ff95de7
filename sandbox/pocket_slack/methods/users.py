"""People and bots."""

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json


def info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.info"""
    user = call.ws.users.get(call.text("user"))
    if user is None:
        raise SlackError("user_not_found")
    ws = call.ws
    known = {"enterprise_id": ws.enterprise_id, "id": user.id, "teams": [user.team_id]}
    its = {"enterprise_user": known} if ws.enterprise_id and user.team_id in ws.team_ids else {}
    return {"user": user.to_slack() | its}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.list"""
    users, metadata = call.page(list(call.ws.users.values()), default=1000)
    members = [user.to_slack() for user in users]
    return {"members": members, "cache_ts": int(call.ws.clock.now()), "response_metadata": metadata}


def bot_info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/bots.info"""
    user = call.ws.user_by_bot_id(call.optional("bot") or "")
    if user is None:
        raise SlackError("bot_not_found")
    return {"bot": user.bot_profile()}
