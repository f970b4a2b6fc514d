"""What can be wrong with the catalog or with what it is asked for, one reason each."""

from typing import Literal

from services.runtime.errors import ConfigurationError, OdradekError

FailureKind = Literal[
    "no_saved_config", "decryption_failed", "placeholder_key", "missing_model_id", "personal_provider_required"
]
"""Why a turn has no model or key.

no_saved_config: nobody has set up the provider. decryption_failed: the key cannot be opened. placeholder_key: the endpoint
wants a key and has none. missing_model_id: no model is chosen. personal_provider_required: the server lets each user bring
a key, and this one has none.
"""


class NoSuchRow(OdradekError):
    """What was named is not in the catalog; the message says what it was and the remedy where to look."""


def not_set_up(provider: str) -> NoSuchRow:
    """The error for a provider that the owner has not set up, or an endpoint `custom:N` that is none of theirs."""
    command = "endpoint" if provider.startswith("custom:") else "provider"
    return NoSuchRow(f"{provider[:80]} is not set up there", remedy=f"Set it up first: `odradek {command} add`.")


class Refused(OdradekError):
    """The catalog does not take what it was given: a limit, a name that is taken, a combination that makes no sense."""


class NoCryptoSecret(ConfigurationError):
    """The secret that keys are encrypted with is missing, too short, or not the one that is named as current."""


class DecryptionFailed(OdradekError):
    """A key at rest cannot be opened: its secret is gone or another one, or the row is not the one it was written for."""


class SchemaMismatch(ConfigurationError):
    """The database's tables are older or newer than this code."""


class SeedsBroken(OdradekError):
    """The models that ship with this code break a rule of the catalog; the message lists what does."""
