"""Answers the requests of a judge while it scores one response: at once, or from batches hours later.

The judge does not know about batches. It is run with the answers known so far. A request without an answer is noted,
and the run is given up. Once all noted requests are answered, another run takes the same course and gets further.
"""

import asyncio
import hashlib
import json
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from judge.scoring.conversation import Turn
from judge.scoring.judging import Judge
from judge.scoring.model.client import stand_in
from judge.scoring.model.completion import BATCH
from judge.scoring.ratings import Verdict

if TYPE_CHECKING:
    import httpx2

QUIET_S = 0.05
# Without a new request for this many waits in a row, even a busy event loop has sent all requests of the response.
_QUIET_TIMES = 10


class Exchange:
    """Answers a judge's requests about one response from what is known.

    Args:
        known: Answers by the digest of the request's body, in order of arrival: HTTP status and body, or None if an
            answer is still awaited.
        is_direct: Whether the server is asked directly if no answer is known.

    Attributes:
        missing: The requests that are not sent yet: digest and body.
        is_waiting: Whether a request has no answer yet.
    """

    def __init__(self, known: Iterable[tuple[str, dict[str, Any] | None]], *, is_direct: bool = False) -> None:
        self._known: defaultdict[str, deque[dict[str, Any] | None]] = defaultdict(deque)
        for digest, response in known:
            self._known[digest].append(response)
        self._is_direct = is_direct
        self._requests = 0
        self.missing: list[tuple[str, bytes]] = []
        self.is_waiting = False

    async def score(
        self,
        judge: Judge,
        question: str,
        response: str,
        quiet_s: float = QUIET_S,
        *,
        conversation: Sequence[Turn] = (),
    ) -> Verdict | None:
        """The verdict; None if answers are missing or awaited.

        Raises:
            JudgeError: As `Judge.score`.
        """
        token = stand_in.set(self._answer)
        work = asyncio.create_task(judge.score(question, response, conversation=conversation))
        stand_in.reset(token)
        quiet = 0
        try:
            while quiet < _QUIET_TIMES:
                before = self._requests
                await asyncio.wait([work], timeout=quiet_s)
                if work.done():
                    return work.result()
                quiet = quiet + 1 if self.is_waiting and self._requests == before else 0
            return None
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def _answer(self, request: "httpx2.Request") -> "httpx2.Response | None":
        import httpx2

        self._requests += 1
        digest = hashlib.sha256(request.content).hexdigest()[:32]
        known = self._known[digest]
        if not known and self._is_direct:
            return None
        if not known:
            self.missing.append((digest, request.content))
        response = known.popleft() if known else None
        if response:
            # Escaped, because half a surrogate pair in a text cannot be written as UTF-8.
            body = json.dumps(response["body"] | {"service_tier": BATCH})
            return httpx2.Response(response["status_code"], content=body, request=request)
        self.is_waiting = True
        await asyncio.get_running_loop().create_future()  # until the run is given up
        return None
