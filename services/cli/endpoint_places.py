"""Where an endpoint may be, as the provider worker will see it: told when it is added, not only when it is called."""

import asyncio

from services.catalog.owners import Owner, Person
from services.provider.reach import Reach
from services.runtime.errors import OdradekError
from services.runtime.fetching.connecting import Resolver, system_resolver, vetted
from services.runtime.fetching.refusals import FetchRefused
from services.runtime.fetching.urls import FetchPolicy, checked
from services.runtime.settings import Settings

LOOK_UP_S = 5.0
_PORTS = {"http": 80, "https": 443}
_NOT_FOUND = "this machine cannot look the endpoint's name up; the provider worker looks for itself"
_NO_PRIVATE = ", and calls no private address unless ODRADEK_PRIVATE_ENDPOINTS=1 is set there"


class PlaceRefused(OdradekError):
    """The endpoint lies where none of its owner may be."""


def policy_for(owner: Owner, url: str, settings: Settings) -> FetchPolicy:
    """A person's endpoint is on the public internet; a server's also in the operator's network, where they allow it."""
    reach = Reach.of(settings)
    allowed = not isinstance(owner, Person) and (reach.private_endpoints or reach.is_own(url))
    return FetchPolicy("own_network" if allowed else "production")


async def check_place(
    owner: Owner, url: str, settings: Settings, *, resolver: Resolver = system_resolver
) -> str | None:
    """A warning where this machine cannot say whether the provider worker will call the URL; None where it will.

    Raises PlaceRefused for a URL that it would not call. A name is looked up here, for no longer than LOOK_UP_S.
    """
    policy = policy_for(owner, url, settings)
    try:
        found = checked(url, policy)
        async with asyncio.timeout(LOOK_UP_S):
            await vetted(found.raw_host.decode("ascii"), found.port or _PORTS[found.scheme], policy, resolver=resolver)
    except TimeoutError:
        return _NOT_FOUND + (_NO_PRIVATE if policy.public_only else "")
    except FetchRefused as error:
        if error.code == "DNS_RESOLUTION_FAILED":
            return _NOT_FOUND + (_NO_PRIVATE if policy.public_only else "")
        raise PlaceRefused(str(error), remedy=f"{error.remedy}{_way_in(owner, policy)}") from None
    return None


def _way_in(owner: Owner, policy: FetchPolicy) -> str:
    if isinstance(owner, Person):
        return " A person's endpoint may lie nowhere else."
    if policy.public_only:
        return " If it lies in your own network, set ODRADEK_PRIVATE_ENDPOINTS=1 here and for the provider worker."
    return ""
