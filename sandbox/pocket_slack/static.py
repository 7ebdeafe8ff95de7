"""The page's files.

The browser gets them as they are in `page/`: no build step, nothing from other hosts.
"""

from pathlib import Path

from aiohttp import web

FOLDER = Path(__file__).parent / "page"

HEADERS = {
    # Messages may be hostile: no inline script runs, and nothing is loaded from another host.
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def static_routes() -> list[web.RouteDef]:
    """The page at `/`, its parts under `/page/`."""
    return [web.get("/", _index), web.get("/page/{path:.+}", _part)]


async def _index(request: web.Request) -> web.StreamResponse:
    return web.FileResponse(FOLDER / "index.html", headers=HEADERS)


async def _part(request: web.Request) -> web.StreamResponse:
    path = (FOLDER / request.match_info["path"]).resolve()
    if not (path.is_relative_to(FOLDER) and path.is_file()):
        raise web.HTTPNotFound
    return web.FileResponse(path, headers=HEADERS)
