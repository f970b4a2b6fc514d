"""Structured logs on standard error: JSON lines for machines, readable lines in a terminal.

Bind `turn`, `generation` and `channel` where they are known. Values that users or providers wrote and secrets are
never logged; events name what happened, keys say to what. A line that an outage repeats says `often=True`, and is
summarised (`services.runtime.repeats`).
"""

import logging
import sys
from typing import cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from services.runtime.repeats import Repeats
from services.runtime.settings import Settings

# Without the frames' local variables: they hold request headers, and so tokens, and what users wrote.
_TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))

_LIBRARY_LEVELS = {
    "aiokafka": "WARNING",
    "asyncio": "WARNING",
    "discord": "WARNING",
    "discord.client": "ERROR",  # it warns at each start that voice is not installed
    "google": "WARNING",
    "httpcore": "WARNING",  # its debug lines show the headers of answers, in which a provider may echo a key
    "httpx": "WARNING",
}


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger whose lines carry `logger=name`; it follows `configure_logs` whenever that is called."""
    return cast(FilteringBoundLogger, structlog.stdlib.get_logger(name))


def configure_logs(settings: Settings, *, service: str, instance: str) -> None:
    """Route structlog and the standard library's loggers through one handler. Call once a process, at start."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    readable = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    tail: list[Processor]
    if readable:
        tail = [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), pad_event_to=28, exception_formatter=structlog.dev.plain_traceback
            )
        ]
    else:
        tail = [_TRACEBACKS, structlog.processors.JSONRenderer()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(allow={"suppressed"})],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tail],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for library, level in _LIBRARY_LEVELS.items():
        logging.getLogger(library).setLevel(level)
    handler.addFilter(Repeats())
    structlog.contextvars.bind_contextvars(service=service, instance=instance)
