"""How workflow steps end.

Source: https://docs.slack.dev/reference/methods?family=functions
"""

from pocket_slack.errors import SlackError
from pocket_slack.executions import Execution
from pocket_slack.methods.call import Call
from pocket_slack.model import Json


def complete_success(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/functions.completeSuccess"""
    call.text("function_execution_id")
    outputs = call.json("outputs", "invalid_arguments")
    if not isinstance(outputs, dict):
        raise SlackError("invalid_arguments", ["[ERROR] missing required field: outputs"])
    call.ws.executions.complete(_running(call), outputs)
    return {}


def complete_error(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/functions.completeError"""
    call.text("function_execution_id")
    error = call.text("error")
    call.ws.executions.fail(_running(call), error)
    return {}


def _running(call: Call) -> Execution:
    """The running execution that a call is about; a workflow token is valid for its own execution
    only.
    """
    execution = call.ws.executions.all.get(call.text("function_execution_id"))
    if execution is None:
        raise SlackError("function_execution_not_found")
    if call.token not in (call.ws.bot_token, execution.token):
        raise SlackError("access_denied")
    if execution.status != "running":
        raise SlackError("execution_not_in_running_state")
    return execution
