"""Groups of people, such as `@support`.

Source: https://docs.slack.dev/reference/methods?family=usergroups
"""

from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/usergroups.list"""
    call.team()
    listed = []
    for group in call.ws.usergroups.values():
        body = dict(group)
        members = body.pop("users")
        if call.flag("include_users"):
            body["users"] = members
        if call.flag("include_count"):
            body["user_count"] = len(members)
        listed.append(body)
    return {"usergroups": listed}


def members(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/usergroups.users.list"""
    group = call.ws.usergroups.get(call.text("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group["users"])}
