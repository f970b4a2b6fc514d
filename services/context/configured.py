"""What the settings say of the model that is asked: a dialect, its provider, an address and a key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from schemas.attempts import Chosen
from schemas.chunks import Dialect
from schemas.context import GenerationOptions
from schemas.prompts import Placement
from services.catalog.providers import provider_named
from services.catalog.seeds import SEEDS
from services.catalog.target import ModelFacts, ProviderName, Target
from services.context.habits.table import HABITS
from services.context.providers import provider_at
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Configured:
    """A dialect that the settings have a key for.

    `credential` is the name of the key, `key_setting` the variable that sets it, `key` finds it, `provider` whose it is.
    """

    provider: ProviderName
    credential: str
    key_setting: str
    key: Callable[[Settings], SecretStr | None]


CONFIGURED: Mapping[Dialect, Configured] = {
    "openai-chat": Configured("openai", "openai", "ODRADEK_OPENAI_API_KEY", lambda settings: settings.openai_api_key),
    "anthropic": Configured(
        "anthropic", "anthropic", "ODRADEK_ANTHROPIC_API_KEY", lambda settings: settings.anthropic_api_key
    ),
}


def configured(settings: Settings) -> Configured:
    """The row of the settings' dialect; raises ConfigurationError where there is none."""
    found = CONFIGURED.get(settings.dialect)
    if found is None:
        raise ConfigurationError(
            f"the settings have no key for the dialect {settings.dialect!r}",
            remedy=f"Set ODRADEK_DIALECT to one of {', '.join(CONFIGURED)}.",
        )
    return found


def base_url_of(settings: Settings) -> str:
    """The address in use: that of the settings, or the provider's own."""
    provider = configured(settings).provider
    return settings.provider_url or HABITS[provider, settings.dialect].base_url or ""


def host_of(settings: Settings) -> str:
    """The host that is asked; raises ConfigurationError for an address that cannot be called."""
    try:
        address = urlsplit(base_url_of(settings))
    except ValueError:
        address = None
    if address is None or address.scheme not in ("http", "https") or not address.hostname:
        raise ConfigurationError(
            "the provider's URL is not one that can be called",
            remedy="Set ODRADEK_PROVIDER_URL to an address that begins with https:// or http://.",
        )
    return address.hostname


def target_of(settings: Settings, model: str) -> Target:
    """The target of a request for `model`: the provider whose host is asked, else a custom endpoint."""
    known = provider_named(provider_at(host_of(settings)))
    provider = known if known is not None and (known, settings.dialect) in HABITS else "custom"
    return Target(
        provider, settings.dialect, _facts(provider, model), base_url=settings.provider_url or base_url_of(settings)
    )


def _facts(provider: ProviderName, model: str) -> ModelFacts:
    """What the models that ship with Odradek say of it; of any other its name alone is known."""
    seed = next((seed for seed in SEEDS[provider] if seed.codename == model), None)
    return ModelFacts(model) if seed is None else seed.facts()


def placement_of(settings: Settings) -> Placement:
    """Where the provider of the settings' dialect wants the key."""
    return HABITS[configured(settings).provider, settings.dialect].placement


def options_of(settings: Settings) -> GenerationOptions:
    """What the settings ask of the model beside the words."""
    return GenerationOptions(
        temperature=settings.temperature,
        max_output_tokens=settings.max_tokens,
        stop_strings=tuple(dict.fromkeys(text for text in settings.stop_strings if text)),
    )


def candidates(settings: Settings) -> tuple[Chosen, ...]:
    """The models and keys that there are: the settings' one. Raises ConfigurationError, whose remedy names the setting."""
    host = host_of(settings)
    return (Chosen(provider=provider_at(host), model=settings.model, credential=_credential(settings)),)


def _credential(settings: Settings) -> str:
    """The name of the key, or nothing for a server that wants none."""
    spec = configured(settings)
    key = spec.key(settings)
    if key is not None and key.get_secret_value().strip():
        return spec.credential
    if not settings.provider_url:
        raise ConfigurationError(
            f"there is no key for the dialect {settings.dialect!r}",
            remedy=f"Set {spec.key_setting}, or ODRADEK_PROVIDER_URL for a server that wants none.",
        )
    return ""
