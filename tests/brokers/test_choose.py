"""Which broker a test run gets."""

import pytest

from services.sandbox.brokers import choose as choosing
from services.sandbox.brokers import install
from services.sandbox.brokers.choose import BrokerChoice, choose
from services.sandbox.brokers.errors import BrokerUnavailable

NO_ENGINE = BrokerUnavailable("no Docker engine answers", "start Docker")
NO_JAVA = BrokerUnavailable("Java is not installed", "install Java")
NO_WHEEL = BrokerUnavailable("the embedded broker is not installed", "use --kafka")


def _machine(
    monkeypatch: pytest.MonkeyPatch,
    *,
    engine: BrokerUnavailable | None,
    jvm: BrokerUnavailable | None,
    embedded: BrokerUnavailable | None = None,
) -> None:
    def binary() -> str:
        if embedded:
            raise embedded
        return "/tansu"

    monkeypatch.setattr(choosing.container, "missing", lambda: engine)
    monkeypatch.setattr(choosing.install, "missing", lambda: jvm)
    monkeypatch.setattr(choosing.embedded, "binary", binary)


def test_a_container_comes_first_where_an_engine_has_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=None, jvm=None)
    choice = choose({})
    assert (choice.source, choice.kind) == ("container", "kafka")


def test_the_jvm_comes_second_and_says_why_there_is_no_container(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=NO_ENGINE, jvm=None)
    assert choose({}) == BrokerChoice("jvm", "no container: no Docker engine answers", ())


def test_the_embedded_broker_comes_last_and_tells_what_it_leaves_untested(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=NO_ENGINE, jvm=NO_JAVA)
    choice = choose({})
    assert (choice.source, choice.kind) == ("embedded", "embedded")
    assert "no Docker engine answers" in choice.why
    assert "Java is not installed" in choice.why
    assert {"compaction", "LogAppendTime"} < set(choice.untested)


def test_where_brokers_can_be_killed_no_choice_leaves_that_untested(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=None, jvm=None)
    assert choose({choosing.VARIABLE: "kafka.internal:9092"}).untested == ()
    _machine(monkeypatch, engine=None, jvm=NO_JAVA)
    assert choose({choosing.VARIABLE: "kafka.internal:9092"}).untested == (
        "a broker that is killed and comes back with its data",
    )


def test_nothing_at_all_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=NO_ENGINE, jvm=NO_JAVA, embedded=NO_WHEEL)
    with pytest.raises(BrokerUnavailable, match="embedded broker is not installed"):
        choose({})


@pytest.mark.parametrize("asked", ["container", "jvm", "embedded"])
def test_the_one_asked_for_is_taken(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=None, jvm=None)
    assert choose({choosing.VARIABLE: asked}).source == asked


@pytest.mark.parametrize("asked", ["container", "jvm", "embedded"])
def test_the_one_asked_for_is_never_replaced_by_another(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _machine(monkeypatch, engine=NO_ENGINE, jvm=NO_JAVA, embedded=NO_WHEEL)
    with pytest.raises(BrokerUnavailable):
        choose({choosing.VARIABLE: asked})


@pytest.mark.parametrize("address", ["127.0.0.1:9092", "kafka.internal:9092", "[::1]:9092"])
def test_an_address_is_used_as_it_is(address: str) -> None:
    choice = choose({choosing.VARIABLE: address})
    assert (choice.source, choice.bootstrap, choice.kind) == ("address", address, "kafka")


@pytest.mark.parametrize("asked", ["kafka", "host:", ":9092", "a b:1"])
def test_what_is_neither_a_broker_nor_an_address_is_refused(asked: str) -> None:
    with pytest.raises(BrokerUnavailable, match="names no broker"):
        choose({choosing.VARIABLE: asked})


def test_the_broker_in_a_container_has_the_settings_of_the_local_one() -> None:
    settings = install.settings_without_addresses()
    assert settings["message.max.bytes"] == "9437184"
    assert not any("@" in value for value in settings.values())
    assert "log.dirs" not in settings
