"""Where a request for one of Google's models goes.

https://ai.google.dev/api/generate-content, https://cloud.google.com/vertex-ai/docs/reference/rest. A base URL ends where
`models/` begins; that of a Vertex model holds its project and location, so it comes with the target.
"""

import re
from urllib.parse import urlunsplit

from services.catalog.target import Target
from services.context.failures import UnusableTarget
from services.context.habits.endpoint import split_base
from services.context.habits.row import Habits

_METHOD = ":streamGenerateContent?alt=sse"
_ROOT_PATH = "/v1beta"
"""The version that is meant by the root of a server."""

_MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]*(?:/[A-Za-z0-9_][A-Za-z0-9._@-]*)?")


def request_url(target: Target, row: Habits) -> str:
    """The whole URL, which asks for a stream of server-sent events. Raises UnusableTarget."""
    model = target.model.codename
    if not _MODEL.fullmatch(model):
        raise UnusableTarget("the model's name cannot be a part of an address")
    path = model if model.startswith(("models/", "tunedModels/")) else f"models/{model.removeprefix('google/')}"
    return f"{_base_url(target, row)}/{path}{_METHOD}"


def _base_url(target: Target, row: Habits) -> str:
    if target.base_url is not None:
        base = split_base(target.base_url)
        return urlunsplit((base.scheme, base.netloc, base.path.rstrip("/") or _ROOT_PATH, "", ""))
    if row.base_url is None:
        raise UnusableTarget(
            "a Vertex model has no address without a project and a location",
            remedy="Store the Vertex credential as PROJECT::LOCATION.",
        )
    return row.base_url
