"""Lets only the sandbox's own page drive it from a browser, and no page of another origin.

That includes names that resolve to this machine (DNS rebinding): a request must name the machine by
its IP address, as `localhost`, or by the name given with `--host`. A POST must be JSON, which a
form on another page cannot send.
"""

import ipaddress
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware
from yarl import URL

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

REFUSAL = (
    "this origin may not drive the sandbox; open its page by address or as localhost, "
    "or start it with --host and the name that you use"
)
GUARDED = ("/sandbox/", "/page/")
FOREIGN = ("cross-site", "same-site")
"""Values of Sec-Fetch-Site: https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header"""


def guard(own_host: str) -> Middleware:
    """A middleware that refuses the page and the control routes to other origins; `own_host` is a
    name to accept.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        is_guarded = request.path == "/" or request.path.startswith(GUARDED)
        if is_guarded and not (_is_our_name(request, own_host) and _is_own_page(request)):
            return web.json_response({"error": REFUSAL}, status=403)
        if is_guarded and request.method == "POST" and request.content_type != "application/json":
            return web.json_response(
                {"error": "the content type is not application/json"}, status=415
            )
        return await handler(request)

    return guarded


def _is_our_name(request: web.Request, own_host: str) -> bool:
    try:
        name = URL(f"http://{request.host}").host or ""
    except ValueError:
        return False
    return name in ("localhost", own_host) or _is_address(name)


def _is_own_page(request: web.Request) -> bool:
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site")
    if origin and origin != f"http://{request.host}":
        return False
    # Following a link from elsewhere to the page is fine; loading it into another page is not.
    is_visit = request.path == "/" and request.headers.get("Sec-Fetch-Dest") == "document"
    return site not in FOREIGN or is_visit


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
