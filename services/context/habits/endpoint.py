"""Where a request goes: from a base URL, which a user may have written in several ways, to the whole URL."""

from urllib.parse import SplitResult, urlsplit, urlunsplit

from services.context.failures import UnusableTarget
from services.context.habits.row import Habits


def request_url(habits: Habits, base_url: str | None, *, continuing: bool = False) -> str:
    """The URL of the row's path below the user's base URL or the provider's own. Raises UnusableTarget.

    A user's URL that ends with the path is the whole. Any URL of the provider's own host that says no other path means the
    provider's base; another root gets `/v1`. A URL with a path stays as it is, and the path follows. A query is kept.
    `continuing`: the request continues a turn, for which the provider may have another base.
    """
    another = habits.chat.continuing_base_url if continuing else None
    own = another or habits.base_url
    if base_url is None:
        if own is None:
            raise UnusableTarget(f"the provider {habits.provider} needs a base URL")
        return own + habits.path
    base = split_base(base_url)
    path = base.path.rstrip("/")
    begin = path.removesuffix(habits.path)
    if own is not None and base.hostname == urlsplit(own).hostname:
        usual = urlsplit(own).path
        begin = usual if another is not None or not begin else begin
    elif not path:
        begin = "/v1"
    return urlunsplit((base.scheme, base.netloc, begin + habits.path, base.query, ""))


def server_of(habits: Habits, base_url: str | None) -> str:
    """Host and port of the base URL in use, in lower case; empty where there is none."""
    return urlsplit(base_url or habits.base_url or "").netloc.rpartition("@")[2].lower()


def split_base(base_url: str) -> SplitResult:
    """The parts of a base URL; raises UnusableTarget, which does not repeat it, since it may hold a password."""
    try:
        base = urlsplit(base_url.strip())
        usable = base.scheme in ("http", "https") and bool(base.hostname) and (base.port is None or base.port > 0)
    except ValueError:
        usable, base = False, None
    if base is None or not usable:
        raise UnusableTarget("the base URL is not one that can be called: it must begin with https:// or http://")
    return base
