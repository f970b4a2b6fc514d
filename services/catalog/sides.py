"""What the choice of an attempt depends on: the turn, its server's side, its person's side, and their models."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.attempts import EarlierAttempt
from schemas.context import GenerationOptions
from services.catalog.errors import FailureKind
from services.catalog.keys import CredentialReference
from services.catalog.rotation import PooledKey
from services.catalog.target import Target


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model of the catalog: whose configuration it needs, and what is asked of it."""

    llm_id: int
    provider: str
    target: Target


@dataclass(frozen=True, slots=True)
class SavedProvider:
    """A provider that is set up. `reference` is None where it needs no key, `base_url` where the model says it.

    `left_out` names the options that stand in the database and cannot be used.
    """

    reference: CredentialReference | None
    problem: FailureKind | None = None
    options: GenerationOptions = field(default_factory=GenerationOptions)
    base_url: str | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerSide:
    """What a server has chosen, for this turn's channel and persona. Models are ids; None: none is chosen.

    `left_out` is as in SavedProvider.
    """

    llm_id: int | None = None
    channel_llm_id: int | None = None
    persona_llm_id: int | None = None
    fallbacks: tuple[int, ...] = ()
    saved: Mapping[str, SavedProvider] = field(default_factory=dict[str, SavedProvider])
    pools: Mapping[str, tuple[PooledKey, ...]] = field(default_factory=dict[str, tuple[PooledKey, ...]])
    user_byok_mode: bool = False
    personal_server_fallback: bool = True
    randomizes: bool = False
    tools_enabled: bool = True
    verbatim_tools: bool = False
    stop_strings: tuple[str, ...] = ()
    stops_speaker: bool = False
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonSide:
    """What a person has chosen for text. `provider` None: nothing, so the server's choice holds."""

    provider: str | None = None
    llm_id: int | None = None
    fallbacks: tuple[int, ...] = ()
    saved: Mapping[str, SavedProvider] = field(default_factory=dict[str, SavedProvider])


@dataclass(frozen=True, slots=True)
class Turn:
    """What of a turn the choice depends on. `person` None: nobody's own key may be used for it.

    `server_admitted`: the server's cooldown and quota let the turn through, which counts when its models follow a person's
    own.
    """

    id: str
    server: str | None
    channel: str
    person: str | None = None
    persona: str | None = None
    impersonation: bool = False
    server_admitted: bool = True
    earlier: tuple[EarlierAttempt, ...] = ()
