"""Signs of life: in the database, and for monitoring at `/healthz`, `/readyz` and `/metrics`, on
their own port.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot import metrics
from bot.http_server import HttpServer
from bot.pipeline.retries import in_brief
from bot.store import Store
from bot.store.cases import Cases
from bot.store.errors import STORE_ERRORS

Sign = Callable[[], Awaitable[bool]]
"""Whether something is well."""
_UNWELL = (
    "Slack cannot reach this process, it takes no jobs, or the database cannot be written; "
    "its log says which\n"
)
SIGN_S = 5.0
# after a sign of trouble, as at startup: a health check should not have to wait for the next one
SIGN_AGAIN_S = 0.5

logger = structlog.get_logger(__name__)


def probes(host: str, port: int, cases: Cases, signs: Sequence[Sign]) -> HttpServer:
    """A server that is ready if the database answers and all `signs` are good."""

    async def show(request: web.BaseRequest) -> web.Response:
        page = request.path
        try:
            if page == "/readyz":
                await cases.ping()
                if not all([await sign() for sign in signs]):
                    return web.Response(status=503, text=_UNWELL)
            if page == "/metrics":
                metrics.note_cases(await cases.counts())
                return web.Response(
                    body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST}
                )
        except STORE_ERRORS:
            return web.Response(status=503, text="the database is out of reach\n")
        if page in ("/healthz", "/readyz"):
            return web.Response(text="ok\n")
        return web.Response(status=404, text="here are /healthz, /readyz, /metrics\n")

    return HttpServer(("METRICS_HOST", "METRICS_PORT"), host, port, show)


async def sign_forever(store: Store, signs: Sequence[Sign]) -> None:
    """Tells the database every few seconds that this process lives, and whether all is well."""
    while True:
        is_well = all([await sign() for sign in signs])
        pause_s = SIGN_S
        try:
            await store.processes.sign(is_connected=is_well)
            metrics.LAST_SIGN.set_to_current_time()
            pause_s = SIGN_S if is_well else SIGN_AGAIN_S
        except STORE_ERRORS as exc:
            is_well = False
            logger.error("database_out_of_reach", reason=in_brief(exc), next_in_s=SIGN_S)
        metrics.READY.set(is_well)
        await asyncio.sleep(pause_s)
