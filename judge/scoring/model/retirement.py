"""When a model will be shut down, as far as its server says so.

Source: `shutdown_date` of GET /v1/models/{id}, in `openai.types.Model`.
"""

from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from judge.errors import JudgeError
from judge.scoring.model.client import limited

if TYPE_CHECKING:
    import openai

_MOST_BYTES = 100_000
_TIMEOUT_S = 10.0
# The field of a server that names a replacement; OpenAI's has none yet.
_REPLACEMENTS = ("replacement", "replacement_model", "recommended_replacement")


class Retirement(NamedTuple):
    """A model, the day on which it is shut down, and the model that its server names instead, or
    "".
    """

    model: str
    on: date
    replacement: str = ""

    def __str__(self) -> str:
        instead = f", and names {self.replacement!r} instead" if self.replacement else ""
        return f"Its server shuts {self.model!r} down on {self.on:%d %B %Y}{instead}"


async def find_retirement(client: "openai.AsyncOpenAI", model: str) -> Retirement | None:
    """None if the server names no day, or does not answer."""
    import httpx2
    import openai

    options: Any = {"max_retries": 0, "timeout": _TIMEOUT_S, "security": {"bearer_auth": True}}
    path = f"/models/{quote(model, safe='')}"
    try:
        answer = await limited(client, _MOST_BYTES).get(
            path, cast_to=httpx2.Response, options=options
        )
        fields = answer.json()
        on = date.fromisoformat(fields["shutdown_date"][:10])
    except (openai.APIError, JudgeError, ValueError, TypeError, KeyError, RecursionError):
        return None
    names = [fields.get(name) for name in _REPLACEMENTS]
    replacement = next((name for name in names if isinstance(name, str)), "")
    return Retirement(model, on, replacement[:80])
