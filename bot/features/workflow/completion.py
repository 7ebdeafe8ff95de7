"""The end of a workflow's step: it is told the verdict of its case, or why there is none; always, and once.

The bot's own token does it, and the one that comes with each step is thrown away: it dies after 15 minutes, and a case
may take longer. Slack's frameworks can do the same, Bolt by `attaching_function_token_enabled=False`.
Sources: https://github.com/slackapi/bolt-python/issues/1075, https://github.com/slackapi/bolt-js/issues/2500,
https://docs.slack.dev/reference/methods/functions.completeSuccess (bot tokens, no scope).
"""

from datetime import timedelta
from typing import Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.case import LoggedCase
from bot.domain.verdict import RecordedVerdict
from bot.features.workflow.text import FORGOTTEN, OTHER_OUTPUTS, outputs
from bot.pipeline.retries import RetryError
from bot.slack.client import error_of, is_transient, slack_word
from bot.store import Store
from bot.store.cases import AT_REST

_HAS_ENDED = "execution_not_in_running_state"
_UNFIT = "parameter_validation_failed"
_LOOK_AGAIN = timedelta(seconds=2)

logger = structlog.get_logger(__name__)


class Completion:
    """Slack ends each step once: who comes second is told so, and an interrupted try may be made again."""

    def __init__(self, client: AsyncWebClient, store: Store, workspace_url: str) -> None:
        self._client = client
        self._store = store
        self._workspace_url = workspace_url

    async def settle(self, case_id: int) -> None:
        """Tells the steps that wait for a case its end.

        Raises:
            RetryError: It has not come so far.
            SlackApiError, ClientError, TimeoutError: Slack cannot be told now.
        """
        case = await self._store.cases.get(case_id)
        if case and case.status not in AT_REST:
            raise RetryError("its case is not settled", _LOOK_AGAIN)
        await self.tell(case_id, case, await self._store.cases.verdict(case_id) if case else None)

    async def tell(self, case_id: int, case: LoggedCase | None, verdict: RecordedVerdict | None) -> None:
        """Tells the steps that wait for a case the verdict on it; that it was forgotten, where it is gone.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack cannot be told now.
        """
        for execution in await self._store.executions.waiting(case_id):
            if case is None:
                await self.fail(execution.id, FORGOTTEN)
            else:
                told = outputs(case, verdict, self._workspace_url, quotes=execution.quotes)
                await self._complete(execution.id, told)
            await self._store.executions.note_completed(case_id, execution.id)

    async def fail(self, execution_id: str, error: str, token: str | None = None) -> None:
        """Has a step fail with this sentence, which Slack shows to people; with a `token` in place of our own.

        Raises:
            SlackApiError, ClientError, TimeoutError: Slack cannot be told now.
        """
        said = {"error": error} | ({"token": token} if token else {})
        refused = await self._call("functions.completeError", execution_id, said)
        if refused:
            logger.warning("step_not_ended", execution=execution_id, error=refused)

    async def _complete(self, execution_id: str, told: dict[str, Any]) -> None:
        refused = await self._call("functions.completeSuccess", execution_id, {"outputs": told})
        if refused == _UNFIT:  # the manifest that was pasted declares others
            await self.fail(execution_id, OTHER_OUTPUTS)
        elif refused:
            logger.warning("step_not_ended", execution=execution_id, error=refused)

    async def _call(self, method: str, execution_id: str, said: dict[str, Any]) -> str | None:
        """Slack's word for why it refuses for good; None where the step has ended."""
        try:
            # Not by slack-sdk's own methods, which write what is said into the address.
            await self._client.api_call(method, json={"function_execution_id": execution_id, **said})
        except SlackApiError as exc:
            if is_transient(exc):
                raise
            return None if error_of(exc) == _HAS_ENDED else slack_word(exc)
        return None
