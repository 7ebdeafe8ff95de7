"""People and bots."""

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json


def info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.info"""
    user = call.ws.users.get(call.text("user"))
    if user is None:
        raise SlackError("user_not_found")
    enterprise_id = (
        call.ws.enterprise_id if user.team_id in call.ws.team_ids else user.enterprise_id
    )
    known = {"enterprise_id": enterprise_id, "id": user.id, "teams": [user.team_id]}
    return {"user": user.to_slack() | ({"enterprise_user": known} if enterprise_id else {})}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.list"""
    call.team()
    users, metadata = call.page(list(call.ws.users.values()), default=1000)
    members = [user.to_slack() for user in users]
    return {"members": members, "cache_ts": int(call.ws.clock.now()), "response_metadata": metadata}


def bot_info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/bots.info"""
    team_id = call.team()
    user = call.ws.user_by_bot_id(call.optional("bot") or "")
    if user is None or user.team_id != team_id:
        raise SlackError("bot_not_found")
    return {"bot": user.bot_profile()}
