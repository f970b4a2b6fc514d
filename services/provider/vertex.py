"""Vertex AI's credential is no key but a place, `project::location`; it tells where the request goes.

https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
"""

import re
from dataclasses import dataclass

from services.provider.failures import CredentialUnusable

_PROJECT = re.compile(r"(?:[a-z0-9.-]{1,60}:)?[a-z0-9][a-z0-9-]{3,61}[a-z0-9]")
_LOCATION = re.compile(r"[a-z][a-z0-9-]{1,40}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class VertexPlace:
    """A Google Cloud project and where its models run."""

    project: str
    location: str

    def fill(self, url: str) -> str:
        """The URL with `{project}` and `{location}` filled in; the location `global` has a host without its name."""
        if self.location == "global":
            url = url.replace("//{location}-", "//")
        return url.replace("{project}", self.project).replace("{location}", self.location)


def vertex_place(credential: str) -> VertexPlace:
    """The place that a credential names; raises CredentialUnusable, which does not show it."""
    project, separator, location = credential.strip().partition("::")
    if not (separator and _PROJECT.fullmatch(project) and _LOCATION.fullmatch(location)):
        raise CredentialUnusable(
            "the credential for Vertex AI does not name a place",
            remedy="Set it to PROJECT::LOCATION, for example my-project::europe-west4.",
        )
    return VertexPlace(project, location)
