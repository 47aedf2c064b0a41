# In charge of: uploading a file with tus 1.0.0, so that an interrupted upload continues where it stopped.
import base64
import os
import time
from email.message import Message
from typing import BinaryIO, Callable, Iterator, Optional

from ._service import NetworkError, Service, ServiceError
from .types import Uploaded

UNIT = 5 * 1024 * 1024  # Part sizes in the service's store are multiples of this, so chunks leave no remainder.
MAX_CHUNK = 16 * UNIT  # Below what a Worker accepts in one request.
CHUNK_SECONDS = 2  # Target duration of one chunk.
TRIES = 6  # Without any progress before the upload fails.
BLOCK = 256 * 1024
TUS = {"Tus-Resumable": "1.0.0"}
CHUNK = {**TUS, "Content-Type": "application/offset+octet-stream"}


def upload_file(service: Service, path: str, name: str, progress: Optional[Callable[[int, int], None]]) -> Uploaded:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise ValueError(f"{path} is empty.")
        metadata = f"filename {base64.b64encode(name.encode()).decode()}"
        begin = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
        upload: Uploaded = service.json("POST", "/uploads", None, begin)
        # The Location header is not used: behind a proxy it may name another host, and the key is sent with each chunk.
        address = f"/uploads/{upload['uploaded_file_number']}"
        show = progress or (lambda _stored, _size: None)
        show(0, size)
        offset, chunk, failures, ready = 0, UNIT, 0, False
        # All bytes may be stored although the last answer was lost: an empty chunk makes the file ready for a job.
        while not ready:
            started, known = time.monotonic(), offset
            try:
                end = min(offset + chunk, size)
                place = {**CHUNK, "Content-Length": str(end - offset), "Upload-Offset": str(offset)}
                offset = _offset(service.send("PATCH", address, _blocks(file, offset, end), place)[0])
                ready = offset == size
                # Whole units, at most four times the previous size.
                fitting = chunk * min(4, CHUNK_SECONDS / max(time.monotonic() - started, 0.001)) / UNIT
                chunk, failures = min(MAX_CHUNK, max(1, round(fitting)) * UNIT), 0
                show(offset, size)
            except (ServiceError, NetworkError) as error:
                failures += 1
                if not _is_resumable(error) or failures >= TRIES:
                    raise
                time.sleep(0.5 * failures)
                try:
                    # The received part of an interrupted chunk is stored; the service reports its size.
                    offset = _offset(service.send("HEAD", address, None, TUS)[0])
                except (ServiceError, NetworkError) as other:
                    if not _is_resumable(other):
                        raise
                failures = 0 if offset > known else failures
        return upload


def _blocks(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    file.seek(start)
    while start < end:
        block = file.read(min(BLOCK, end - start))
        if not block:
            raise ValueError(f"{file.name} was truncated while it was being read.")
        start += len(block)
        yield block


def _offset(headers: Message) -> int:
    text = headers.get("Upload-Offset") or ""
    if not (text.isascii() and text.isdigit()):
        raise NetworkError("The service did not report how much of the upload is stored.")
    return int(text)


def _is_resumable(error: Exception) -> bool:
    """409: the service has another offset. 423: the interrupted chunk is still being stored."""
    return not isinstance(error, ServiceError) or error.status >= 500 or error.status in (409, 423)
