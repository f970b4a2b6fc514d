"""Where each provider wants its key, and that no key shows itself."""

from typing import Any

import httpx
import pytest

from schemas.prompts import CredentialRef, Placement
from services.provider.credentials import Credentials
from services.provider.failures import CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.provider.vertex import VertexPlace, vertex_place
from services.runtime.settings import Settings

SECRET = "sk-very-secret-0123456789"


def credentials(**keys: Any) -> Credentials:
    none = {"openai_api_key": None, "anthropic_api_key": None, "google_api_key": None}
    return Credentials(Settings(**none | keys), GoogleTokens(httpx.Client))


@pytest.mark.parametrize(
    ("name", "placement", "header"),
    [
        ("openai", "bearer", ("authorization", f"Bearer {SECRET}")),
        ("anthropic", "x-api-key", ("x-api-key", SECRET)),
        ("google", "x-goog-api-key", ("x-goog-api-key", SECRET)),
    ],
)
async def test_a_key_stands_where_its_provider_wants_it_and_nowhere_else(
    name: str, placement: Placement, header: tuple[str, str]
) -> None:
    found = await credentials(**{f"{name}_api_key": SECRET}).find(CredentialRef(name=name, placement=placement))
    assert (found.headers, found.secret) == ((header,), SECRET)
    assert SECRET not in repr(found)


async def test_a_request_without_a_credential_gets_none() -> None:
    found = await credentials(openai_api_key=SECRET).find(CredentialRef(name="openai", placement="none"))
    assert (found.headers, found.secret) == ((), None)


async def test_a_name_that_is_not_known_is_told_without_what_is_known_of_the_others() -> None:
    with pytest.raises(CredentialUnusable, match="no credential is called 'other'") as error:
        await credentials(openai_api_key=SECRET).find(CredentialRef(name="other", placement="bearer"))
    assert SECRET not in f"{error.value!r} {error.value.remedy}"


@pytest.mark.parametrize(
    ("location", "url"),
    [
        (
            "europe-west4",
            "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/x",
        ),
        ("global", "https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/x"),
    ],
)
def test_a_place_of_vertex_fills_the_url(location: str, url: str) -> None:
    template = "https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/x"
    assert vertex_place(f" my-project::{location} ").fill(template) == url


def test_a_project_of_a_domain_is_a_place() -> None:
    assert vertex_place("example.com:my-project::us-central1") == VertexPlace("example.com:my-project", "us-central1")


@pytest.mark.parametrize(
    "credential",
    ["other-project", "::", "other-project::", "::us-central1", "other-project::evil.example/", "other/../x::us-central1",
     "other-project::us-central1::more", "other-project::us central1", SECRET],
)  # fmt: skip
def test_what_names_no_place_is_refused_and_not_shown(credential: str) -> None:
    with pytest.raises(CredentialUnusable) as error:
        vertex_place(credential)
    assert credential == "::" or credential not in f"{error.value!r} {error.value.remedy}"
