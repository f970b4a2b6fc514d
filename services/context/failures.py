"""Why no request can be made of a context; each reason ends the generation before any provider is asked."""

from collections.abc import Sequence

from schemas.context import OmittedPart
from services.context.notices import file_name
from services.runtime.errors import OdradekError


class CannotAssemble(OdradekError):
    """No request says this context. The message may be shown: it holds neither a user's words nor an address.

    `code` is that of the error that its turn ends with.
    """

    code = "cannot_assemble"


class EveryImageFailed(CannotAssemble):
    """All images of the dialogue failed, so that the model would answer about pictures that it never saw.

    `failures` has one entry an image: its index, its name where it has one, the stage and the HTTP status.
    """

    code = "every_image_failed"

    def __init__(self, failures: Sequence[OmittedPart]) -> None:
        super().__init__(
            f"no image could be prepared ({'; '.join(diagnosis(part, named=False) for part in failures)})",
            remedy="Send the images again, as PNG, JPEG, GIF or WebP of at most 5 MB.",
        )
        self.failures = tuple(failures)


class ContextTooLong(CannotAssemble):
    """Even without all history that may be dropped the context does not fit into the model."""

    code = "context_too_long"

    def __init__(self, estimated: int, most: int) -> None:
        super().__init__(
            f"the context takes about {estimated} tokens, and the model has room for {most}",
            remedy="Shorten the system text, the samples or the message, or choose a model with a larger window.",
        )


class UnusableTarget(CannotAssemble):
    """The catalog's row of the model lacks what its provider's addresses are made of, or holds what cannot be in one."""


def diagnosis(part: OmittedPart, *, named: bool = True) -> str:
    """What failed and how: `image 2 (cat.png): download, status 404`. A file's name is a user's word."""
    name = file_name(part.name) if named else ""
    status = "" if part.status is None else f", status {part.status}"
    return f"{part.medium} {part.index}{f' ({name})' if name else ''}: {part.stage}{status}"
