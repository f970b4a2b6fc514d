"""Files of messages: what was sent, kept until newer ones need the room."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from services.sandbox.discord.entities import Attachment
from services.sandbox.discord.errors import invalid_form, too_large
from services.sandbox.discord.forms import AttachmentForm
from services.sandbox.discord.snowflakes import Snowflakes

FILES_LIMIT = 10
FILE_BYTES = 10 * 1024 * 1024
_KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a multipart body; `index` is the n of its `files[n]`."""

    index: int
    filename: str
    content: bytes
    content_type: str


class Attachments:
    """Keeps the bytes of the newest files, 64 MiB in all."""

    def __init__(self, snowflakes: Snowflakes) -> None:
        self._snowflakes = snowflakes
        self._contents = OrderedDict[int, bytes]()
        self._bytes = 0

    def content(self, attachment_id: int) -> bytes | None:
        return self._contents.get(attachment_id)

    def store(self, described: Sequence[AttachmentForm], uploads: Sequence[Upload]) -> tuple[Attachment, ...]:
        if len(uploads) > FILES_LIMIT:
            raise invalid_form(("attachments",), "BASE_TYPE_BAD_LENGTH", f"Must be {FILES_LIMIT} or fewer in length.")
        if any(len(upload.content) > FILE_BYTES for upload in uploads):
            raise too_large()
        descriptions = {form.id: form.description for form in described}
        return tuple(self._store(upload, descriptions.get(upload.index)) for upload in uploads)

    def _store(self, upload: Upload, description: str | None) -> Attachment:
        attachment = Attachment(
            id=self._snowflakes.make(),
            filename=upload.filename,
            size=len(upload.content),
            content_type=upload.content_type,
            description=description,
        )
        self._contents[attachment.id] = upload.content
        self._bytes += attachment.size
        while self._bytes > _KEPT_BYTES:
            _, dropped = self._contents.popitem(last=False)
            self._bytes -= len(dropped)
        return attachment
