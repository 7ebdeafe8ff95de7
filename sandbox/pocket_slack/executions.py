"""Runs of the app's functions as workflow steps: those that still run, and the results of the
others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pocket_slack.clock import Clock
from pocket_slack.deliveries import Delivery
from pocket_slack.errors import SlackError
from pocket_slack.functions import Function, misfits
from pocket_slack.ids import Ids
from pocket_slack.journal import Journal
from pocket_slack.model import Json

TOKEN_LIVES_S = 15 * 60
"""How long a workflow token works, at most; it ends with its step: https://github.com/slackapi/bolt-python/issues/1075"""


@dataclass
class Execution:
    """One run of a function. It stays `running` until the app completes it or reports an error.

    Attributes:
        token: The workflow token that came with the event, valid for this run only.
        outputs: What the app returned to the workflow; None unless the run completed.
        error: The app's error message if the run failed; Slackbot shows it to the workflow's
            managers.
        delivery: The delivery of the event that started the run in the app.
    """

    id: str
    workflow_id: str
    function: Function
    inputs: Mapping[str, Any]
    started_by: str
    token: str = field(repr=False)
    expires_at: float
    status: Literal["running", "completed", "failed"] = "running"
    outputs: Json | None = None
    error: str | None = None
    delivery: Delivery | None = field(default=None, repr=False)

    def to_json(self) -> Json:
        """The run as JSON for another process, without the token."""
        names = ("started_by", "status", "inputs", "outputs", "error")
        named = {"function_execution_id": self.id, "callback_id": self.function.callback_id}
        return named | {name: getattr(self, name) for name in names}


class Executions:
    """All runs, oldest first."""

    def __init__(self, clock: Clock, ids: Ids, journal: Journal) -> None:
        self.all: dict[str, Execution] = {}
        self._clock = clock
        self._ids = ids
        self._journal = journal

    @property
    def running(self) -> list[Execution]:
        """The runs whose workflow waits for the app."""
        return [each for each in self.all.values() if each.status == "running"]

    def start(self, function: Function, inputs: Mapping[str, Any], user_id: str) -> Execution:
        """A new run."""
        id_ = self._ids.new("Fx")
        token = f"xwfp-{self._ids.short(24)}"
        expires_at = self._clock.now() + TOKEN_LIVES_S
        made = Execution(id_, self._ids.new("Wx"), function, inputs, user_id, token, expires_at)
        self.all[made.id] = made
        self._journal.record("execution", **made.to_json())
        return made

    def of_token(self, token: str) -> Execution | None:
        """The run that a workflow token belongs to, or None if there is none.

        Raises:
            SlackError: `token_revoked` if the run has ended, `token_expired` after 15 minutes.
        """
        found = next((each for each in self.all.values() if each.token == token), None)
        if found and found.status != "running":
            raise SlackError("token_revoked")
        if found and self._clock.now() >= found.expires_at:
            raise SlackError("token_expired")
        return found

    def complete(self, execution: Execution, outputs: Json) -> None:
        """Completes a run; the workflow continues with these outputs.

        Raises:
            SlackError: `parameter_validation_failed` if they are not what the manifest declares.
        """
        if wrong := misfits(execution.function.outputs, outputs):
            raise SlackError("parameter_validation_failed", wrong)
        execution.status = "completed"
        execution.outputs = outputs
        self._journal.record("execution", **execution.to_json())

    def fail(self, execution: Execution, error: str) -> None:
        """Ends a run with an error; the workflow stops."""
        execution.status = "failed"
        execution.error = error
        self._journal.record("execution", **execution.to_json())
