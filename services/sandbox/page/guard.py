"""What the page's server refuses and forbids: foreign pages, foreign host names, and everything not its own in the browser.

The page shows what is in the log, so no other site may read it: a site that points its own name at this machine (DNS
rebinding) is told so by the Host header, and one that posts from elsewhere cannot send JSON without being asked first.
"""

from ipaddress import ip_address

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

# https://www.w3.org/TR/CSP3/ - no markup from strings (trusted types), no inline script or style, nothing from elsewhere.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def guard(host: str) -> Middleware:
    """The middleware for a server that listens on `host`; on a loopback address it answers to loopback names only."""
    local_only = _is_loopback(host)

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if local_only and not _is_loopback(request.url.host or ""):
            return web.Response(status=421, text="this page answers to localhost only\n")
        if request.method == "POST" and request.content_type != "application/json":
            return web.json_response({"error": "the body must be application/json"}, status=415)
        return await handler(request)

    return check


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Signal handler: the headers of every answer."""
    response.headers.update(HEADERS)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
