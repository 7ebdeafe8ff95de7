"""The endpoints for monitoring: `/healthz`, `/readyz` and `/metrics`, on their own port."""

from collections.abc import Awaitable, Callable, Sequence

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from bot import metrics
from bot.http_server import HttpServer
from bot.store.cases import Cases
from bot.store.errors import STORE_ERRORS

_OUT_OF_REACH = "the database is out of reach\n"
_UNWELL = "Slack cannot reach this process, it takes no jobs, or the log cannot be written; its log says which\n"


class Probes(HttpServer):
    """Answers while its context is open."""

    def __init__(self, host: str, port: int, cases: Cases, signs: Sequence[Callable[[], Awaitable[bool]]]) -> None:
        self._cases = cases
        self._signs = signs
        self._pages = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics}
        super().__init__(("METRICS_HOST", "METRICS_PORT"), host, port, self._show)

    async def _show(self, request: web.BaseRequest) -> web.Response:
        page = self._pages.get(request.path)
        if page is None or request.method not in ("GET", "HEAD"):
            return web.Response(status=404, text=f"here are {', '.join(self._pages)}\n")
        try:
            return await page()
        except STORE_ERRORS:
            return web.Response(status=503, text=_OUT_OF_REACH)

    async def _healthz(self) -> web.Response:
        return web.Response(text="ok\n")

    async def _readyz(self) -> web.Response:
        await self._cases.ping()
        if all([await sign() for sign in self._signs]):
            return web.Response(text="ok\n")
        return web.Response(status=503, text=_UNWELL)

    async def _metrics(self) -> web.Response:
        metrics.note_cases(await self._cases.counts(metrics.MAX_AGE_S))
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
