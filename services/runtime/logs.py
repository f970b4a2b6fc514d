"""Structured logs on standard error: JSON lines for machines, readable lines in a terminal.

Bind `turn`, `generation` and `channel` where they are known. Values that users or providers wrote and secrets are
never logged; events name what happened, keys say to what.
"""

import logging
import sys
from typing import cast

import structlog
from structlog.typing import FilteringBoundLogger, Processor

from services.runtime.settings import Settings

# Without the frames' local variables: they hold request headers, and so tokens, and what users wrote.
_TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))

_LIBRARY_LEVELS = {
    "aiokafka": "WARNING",
    "asyncio": "WARNING",
    "discord": "WARNING",
    "discord.client": "ERROR",  # it warns at each start that voice is not installed
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
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tail],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for library, level in _LIBRARY_LEVELS.items():
        logging.getLogger(library).setLevel(level)
    handler.addFilter(_Repeated())
    structlog.contextvars.bind_contextvars(service=service, instance=instance)


class _Repeated(logging.Filter):
    """Lets one line a second of each client message pass: aiokafka repeats itself 60-100 times a second in an outage."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if not record.name.startswith(("aiokafka", "discord")):
            return True
        key = f"{record.name}:{record.msg}"
        last = self._last.get(key)
        if last is not None and record.created - last < 1.0:
            return False
        if len(self._last) > 1_000:
            self._last.clear()
        self._last[key] = record.created
        return True
