"""The endpoints for monitoring: `/healthz`, `/readyz` and `/metrics`, on their own port."""

from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot import metrics
from bot.http_server import HttpServer
from bot.store.cases import Cases
from bot.store.errors import STORE_ERRORS

Sign = Callable[[], Awaitable[bool]]
"""Whether something is well."""
_UNWELL = (
    "Slack cannot reach this process, it takes no jobs, or the log cannot be written; its log "
    "says which\n"
)


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
