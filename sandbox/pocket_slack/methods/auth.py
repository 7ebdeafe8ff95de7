"""The app's identity, its workspace and its connections."""

from pocket_slack.methods.call import Call
from pocket_slack.model import Json


def api_test(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/api.test"""
    return {"args": dict(call.args)}


def test(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/auth.test"""
    ws = call.ws
    is_organisations = ws.enterprise_id is not None and call.token != ws.own_token
    return {
        "url": f"https://{ws.domain}.slack.com/",
        "team": ws.name,
        "user": ws.bot.name,
        "team_id": ws.enterprise_id if is_organisations else ws.team_id,
        **({"enterprise_id": ws.enterprise_id} if ws.enterprise_id else {}),
        "user_id": ws.bot.id,
        "bot_id": ws.bot.bot_id,
        "is_enterprise_install": is_organisations,
    }


def open_connection(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/apps.connections.open"""
    ws = call.ws
    base = ws.grants.base_url.replace("http", "ws", 1)
    return {"url": f"{base}/link/?ticket={ws.grants.new_ticket()}&app_id={ws.app_id}"}


def teams(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/auth.teams.list"""
    mine = [call.ws.team_id] if call.token == call.ws.own_token else call.ws.team_ids
    page, metadata = call.page([{"id": each, "name": each} for each in mine])
    return {"teams": page, "response_metadata": metadata}


def team_info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/team.info"""
    ws = call.ws
    url = f"https://{ws.domain}.slack.com/"
    return {
        "team": {
            "id": ws.team_id,
            "name": ws.name,
            "url": url,
            "domain": ws.domain,
            "email_domain": "",
            "icon": {},
        }
    }
