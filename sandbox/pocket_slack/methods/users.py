"""People and bots."""

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json, User


def info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.info"""
    user = _named(call, call.text("user"))
    enterprise_id = (
        call.ws.enterprise_id if user.team_id in call.ws.team_ids else user.enterprise_id
    )
    known = {"enterprise_id": enterprise_id, "id": user.id, "teams": [user.team_id]}
    return {"user": _shown(call, user) | ({"enterprise_user": known} if enterprise_id else {})}


def look_up_by_email(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.lookupByEmail"""
    email = call.text("email").lower()
    for user in call.ws.users.values():
        if user.email == email:
            return {"user": _shown(call, user)}
    raise SlackError("users_not_found")


def profile(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.profile.get"""
    user = _named(call, call.optional("user") or call.ws.bot.id)
    return {"profile": _shown(call, user)["profile"]}


def presence(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.getPresence"""
    _named(call, call.optional("user") or call.ws.bot.id)
    return {"presence": "active"}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/users.list"""
    call.team()
    users, metadata = call.page(list(call.ws.users.values()), default=1000)
    members = [_shown(call, user) for user in users]
    return {"members": members, "cache_ts": int(call.ws.clock.now()), "response_metadata": metadata}


def bot_info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/bots.info"""
    team_id = call.team()
    user = call.ws.user_by_bot_id(call.optional("bot") or "")
    if user is None or user.team_id != team_id:
        raise SlackError("bot_not_found")
    return {"bot": user.bot_profile()}


def _named(call: Call, user_id: str) -> User:
    user = call.ws.users.get(user_id)
    if user is None:
        raise SlackError("user_not_found")
    return user


def _shown(call: Call, user: User) -> Json:
    """A user; their address is for apps with `users:read.email`."""
    body = user.to_slack()
    if user.email and "users:read.email" in call.ws.scopes:
        body["profile"]["email"] = user.email
    return body
