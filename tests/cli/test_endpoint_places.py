"""An endpoint that the provider worker would not call is refused when it is added, with the way out."""

from collections.abc import Callable, Sequence
from ipaddress import ip_address

import pytest

from services.catalog.owners import Owner, Person, Server
from services.cli.endpoint_places import PlaceRefused, check_place
from services.runtime.fetching.addresses import Address
from services.runtime.settings import Settings
from tests.cli.conftest import Command

PRIVATE = [
    "https://10.1.2.3/v1",
    "https://192.168.0.7:8443/v1",
    "https://127.0.0.1/v1",
    "https://[::1]/v1",
    "https://[fd12::1]/v1",
    "https://localhost/v1",
    "http://localhost:11434/v1",
    "http://llm.example/v1",
    "https://inside.example/v1",
]
METADATA = ["https://169.254.169.254/v1", "https://[fe80::1]/v1", "https://metadata.example/v1"]
NAMES = {
    "inside.example": "10.0.0.9",
    "metadata.example": "169.254.169.254",
    "llm.example": "8.8.8.8",
    "localhost": "::1",
}


async def names(host: str, port: int) -> Sequence[Address]:
    if host not in NAMES:
        raise OSError("no such name")
    return [ip_address(NAMES[host])]


@pytest.mark.parametrize("owner", [Server("1"), Person("1")])
@pytest.mark.parametrize("url", PRIVATE + METADATA)
async def test_without_the_setting_an_endpoint_is_on_the_public_internet(
    make_settings: Callable[..., Settings], owner: Owner, url: str
) -> None:
    with pytest.raises(PlaceRefused) as refused:
        await check_place(owner, url, make_settings(), resolver=names)
    assert ("ODRADEK_PRIVATE_ENDPOINTS=1" in refused.value.remedy) is isinstance(owner, Server)
    assert await check_place(owner, "https://llm.example/v1", make_settings(), resolver=names) is None


async def test_with_the_setting_a_servers_endpoint_may_lie_anywhere_but_at_metadata(
    make_settings: Callable[..., Settings],
) -> None:
    settings = make_settings(private_endpoints=True)
    for url in PRIVATE:
        assert await check_place(Server("1"), url, settings, resolver=names) is None
        with pytest.raises(PlaceRefused):
            await check_place(Person("1"), url, settings, resolver=names)
    for url in METADATA:
        with pytest.raises(PlaceRefused):
            await check_place(Server("1"), url, settings, resolver=names)


async def test_the_origin_of_the_settings_provider_may_be_a_servers_endpoint(
    make_settings: Callable[..., Settings],
) -> None:
    settings = make_settings(provider_url="http://10.1.2.3:8000/v1")
    assert await check_place(Server("1"), "http://10.1.2.3:8000/v1", settings, resolver=names) is None
    with pytest.raises(PlaceRefused):
        await check_place(Server("1"), "http://10.1.2.3:8001/v1", settings, resolver=names)


async def test_a_name_that_only_the_worker_may_know_is_taken_with_a_warning(
    make_settings: Callable[..., Settings],
) -> None:
    warning = await check_place(Server("1"), "https://nowhere.example/v1", make_settings(), resolver=names)
    assert warning is not None
    assert "ODRADEK_PRIVATE_ENDPOINTS" in warning


def test_a_refused_endpoint_is_told_with_its_way_in_and_nothing_is_kept(command: Command) -> None:
    add = ("endpoint", "add", "home", "--url", "https://192.168.0.7/v1", "--model", "m", "--no-auth", "--server", "1")
    done = command(*add)
    assert (done.returncode, done.stdout) == (1, "")
    assert "error: the address may not be fetched: it lies in a private network" in done.stderr
    assert "what to do: Use an address on the public internet. If it lies in your own network" in done.stderr
    assert command("endpoint", "list", "--server", "1").stdout == "server:1 has no endpoint\n"
    assert command(*add, ODRADEK_PRIVATE_ENDPOINTS="1").stdout == "custom:1: endpoint home of server:1\n"
    tried = command("provider", "test", "custom:1", "--server", "1")
    assert (tried.returncode, tried.stderr) == (1, done.stderr)
