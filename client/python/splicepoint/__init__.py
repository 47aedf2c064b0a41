# In charge of: the operations of the service as typed functions, as those of client/, without administration.
# Not in charge of: sending a request (_service.py), transfers (_upload.py, _download.py).
"""Client of Splicepoint, a media transcoding service. Standard library only."""

import os
import secrets
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Union
from urllib.parse import urlencode

from ._download import download_files
from ._service import NetworkError, Service, ServiceError, is_transient, repeated
from ._upload import upload_file
from .types import DownloadedFile, Job, JobList, NamedJob, Share, Uploaded

__all__ = ["Client", "NetworkError", "ServiceError"]

Path = Union[str, "os.PathLike[str]"]
Progress = Optional[Callable[[int, int], None]]


class Client:
    """Every function raises ServiceError (the service refused) or NetworkError (no answer)."""

    def __init__(self, address: str, key: str, timeout: float = 60) -> None:
        """`timeout`: seconds of silence within one request."""
        self._service = Service(address, key, timeout)

    def upload(self, path: Path, name: Optional[str] = None, progress: Progress = None) -> Uploaded:
        """Uploads a file; `input` is that of a job. `progress`: called with the stored bytes and the size."""
        return upload_file(self._service, os.fspath(path), name or os.path.basename(path), progress)

    def create(self, job: Mapping[str, Any], dry_run: bool = False, idempotency_key: Optional[str] = None) -> NamedJob:
        """Safe to repeat: all tries have the same Idempotency-Key, so a lost answer does not create a second job."""
        return self._create(f"/api/v0/job{'?dry_run=true' if dry_run else ''}", job, idempotency_key)

    def retry(self, id: int) -> NamedJob:
        """Creates a new job from the request of an ended one. Safe to repeat, like create."""
        return self._create(f"/api/v0/job/{id}/retry", {})

    def read(self, id: int) -> Job:
        return self._service.json("GET", f"/api/v0/job/{id}")

    def follow(
        self,
        id: int,
        poll_seconds: float = 1,
        show: Optional[Callable[[Job], None]] = None,
        silence_seconds: float = 30,
    ) -> Job:
        """Reads the job until it has ended. `show`: called with each read. `silence_seconds`: tolerated outage."""
        heard = time.monotonic()
        while True:
            try:
                job = self.read(id)
            except (ServiceError, NetworkError) as error:
                if not is_transient(error) or time.monotonic() - heard > silence_seconds:
                    raise
            else:
                heard = time.monotonic()
                if show:
                    show(job)
                if job["status"]["job_completed"]:
                    return job
            time.sleep(poll_seconds)

    def cancel(self, id: int) -> Job:
        return self._service.json("POST", f"/api/v0/job/{id}/cancel")

    def delete(self, id: int) -> None:
        """Deletes an ended job, its status and its outputs in the service's own store."""
        self._service.send("DELETE", f"/api/v0/job/{id}")

    def events(self, id: int) -> Dict[str, Any]:
        return self._service.json("GET", f"/api/v0/job/{id}/events")

    def share(
        self,
        id: int,
        title: Optional[str] = None,
        expires_in_seconds: Optional[int] = None,
        password: Optional[str] = None,
    ) -> Share:
        """A page that plays the job's outputs without a key. With a password, of at least 8 characters, viewers must enter it."""
        terms = _given(title=title, expires_in_seconds=expires_in_seconds, password=password)
        return self._service.json("POST", f"/api/v0/job/{id}/share", terms)

    def download_all(self, job: Job, directory: Path) -> List[DownloadedFile]:
        """All files of a job, segments included, checked by size and SHA-256. A file that is there already is kept.

        ValueError: there are no outputs, not all files are known, or one would be written outside of the directory.
        """
        return download_files(job["status"]["outputs"], os.fspath(directory), self._service.timeout)

    def limits(self) -> Dict[str, Any]:
        return self._service.json("GET", "/api/v0/limits")

    def list(
        self,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        state: Optional[str] = None,
        search: Optional[str] = None,
        metadata: Mapping[str, str] = {},
    ) -> JobList:
        """A page of jobs, newest first. The next one: `cursor=page["next_cursor"]`."""
        pairs = [f"{name}:{value}" for name, value in metadata.items()]
        given = _given(limit=limit, cursor=cursor, state=state, search=search, metadata=pairs)
        return self._service.json("GET", f"/api/v0/job?{urlencode(given, doseq=True)}")

    def _create(self, path: str, body: Mapping[str, Any], key: Optional[str] = None) -> NamedJob:
        headers = {"Idempotency-Key": key or secrets.token_hex(16)}
        return repeated(lambda: self._service.json("POST", path, body, headers))


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
