"""Running a command's coroutine: client libraries stay quiet, since the command itself says what went wrong."""

import asyncio
import logging
import warnings
from collections.abc import Coroutine
from typing import Any, TypeVar

from services.runtime.logs import configure_logs
from services.runtime.settings import Settings

Result = TypeVar("Result")


def run(settings: Settings, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of the coroutine; warnings of our own go to standard error."""
    configure_logs(settings.model_copy(update={"log_level": "warning"}), service="cli", instance="cli")
    for library in ("aiokafka", "discord", "google"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"google\.auth")
    return asyncio.run(work)
