"""What the doctor finds about the catalog: whether its secrets encrypt, and its database is at this code's revision."""

from collections.abc import AsyncIterator

from services.catalog import migrating
from services.catalog.catalog import require_up_to_date
from services.catalog.database import Database
from services.catalog.errors import NoCryptoSecret, SchemaMismatch
from services.catalog.sealing import Keyring
from services.cli.doctor_checks import Finding
from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.settings import Settings

_SECRET, _DATABASE = "catalog secret", "catalog database"


async def check_catalog(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the workers can open the catalog. Changes nothing, and makes no file."""
    current = settings.crypto_secret_current
    if not settings.crypto_secrets:
        if current is None:
            yield Finding("catalog", "info", "none, since ODRADEK_CRYPTO_SECRET_V1 is not set: the settings say all")
        else:
            detail = f"none, since no secret is set, though ODRADEK_CRYPTO_SECRET_CURRENT is {current}"
            yield Finding("catalog", "warn", detail, f"set ODRADEK_CRYPTO_SECRET_V{current}, or unset it")
        return
    try:
        keyring = Keyring(settings.crypto_secrets, current)
        yield Finding(_SECRET, "ok", f"version {keyring.current} encrypts")
    except NoCryptoSecret as error:
        yield Finding(_SECRET, "FAIL", str(error), error.remedy)
    try:
        async with Database(settings.database_url) as database:
            yield await _revision(database)
    except (ConfigurationError, Unavailable) as error:
        remedy = error.remedy or "check ODRADEK_DATABASE_URL, and whether the database runs"
        yield Finding(_DATABASE, "FAIL", str(error), remedy)


async def _revision(database: Database) -> Finding:
    if not database.is_there:
        return Finding(_DATABASE, "info", "there is no file yet: the first worker makes it, without providers and keys")
    try:
        await require_up_to_date(database)
    except SchemaMismatch:
        async with database.reading() as session:
            found = await (await session.connection()).run_sync(migrating.current)
        if not database.is_sqlite or (found is not None and found not in migrating.revisions()):
            raise
        detail = f"it is at {found or 'no revision'}; the first worker brings it to {migrating.head()}"
        return Finding(_DATABASE, "info", detail)
    return Finding(_DATABASE, "ok", f"it is at {migrating.head()}, as this code needs it")
