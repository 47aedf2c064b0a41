# In charge of: downloading all files of a job into a directory, including the segments of its playlists, each completely
# or not at all.
import hashlib
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, List, Mapping
from urllib.parse import quote

from ._service import NetworkError, open_file, read_bytes, repeated
from .types import DownloadedFile

BLOCK = 256 * 1024
REFERS = re.compile(r"(\.(m3u8|mpd|json)|/Manifest)$")  # Files that refer to other files.
File = Mapping[str, Any]


def download_files(outputs: List[Any], directory: str, timeout: float) -> List[DownloadedFile]:
    root, got = Path(directory).resolve(), {}
    files = _files_of(outputs, root, timeout)

    def fetch(file: File) -> None:
        got[file["path"]] = repeated(lambda: _fetch(file, root, timeout))

    with ThreadPoolExecutor(6) as pool:
        # Those that refer to others come last, so that each in the directory has all its files.
        for last in (False, True):
            # The first error cancels what has not begun; the pool waits for the rest.
            list(pool.map(fetch, [file for file in files if bool(REFERS.search(file["path"])) == last]))
    return [got[file["path"]] for file in files]


def _files_of(outputs: List[Any], root: Path, timeout: float) -> List[File]:
    """The outputs, and the further files in the job's report."""
    if not outputs:
        raise ValueError("The job has no outputs to download.")
    known = {output["path"]: _local(output["path"], root) for output in outputs}
    unlisted = sum(output["segments"]["count"] for output in outputs if "segments" in output)
    if unlisted == 0:
        return outputs
    report = next((output for output in outputs if output["role"] == "report"), None)
    if report is None:
        raise ValueError("The job has no job.json, so its segments are unknown.")
    address, end = _address_of(report), _quoted(report["path"])
    # In the service's own store, all addresses of a job have one signed prefix.
    if not address.endswith(f"/{end}"):
        raise ValueError("Segments in your own store have no download addresses. Download them from that store.")
    repeated(lambda: _fetch(report, root, timeout))
    objects = json.loads(known[report["path"]].read_bytes())["objects"]
    segments = [file for file in objects if file["path"] not in known]
    if len(segments) < unlisted:
        few = f"job.json lists {len(segments)} of {unlisted} segments, since there are too many of them."
        raise ValueError(f"{few} Download the job as one archive (status.archive_url).")
    for file in segments:
        _local(file["path"], root)
        file["url"] = address[: -len(end)] + _quoted(file["path"])
    return [*outputs, *segments]


def _local(path: str, root: Path) -> Path:
    """Names come from the service: ".." and links in the directory may not lead out of it."""
    local = (root / path).resolve()
    if root not in local.parents:
        raise ValueError(f"The output {path!r} would be written outside of {root}.")
    return local


def _fetch(file: File, root: Path, timeout: float) -> DownloadedFile:
    """The file gets its final name only if its size and SHA-256 match. Raises NetworkError also if they do not."""
    path, size, sha256 = file["path"], file["size"], file["sha256"]
    local = _local(path, root)
    if sha256 and local.is_file() and local.stat().st_size == size and _sha256_of(local) == sha256:
        return {"path": path, "file": str(local), "already": True}
    address, partial = _address_of(file), local.with_name(f"{local.name}.part")
    local.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open_file(address, timeout) as answer, partial.open("wb") as target:
            while block := read_bytes(answer, BLOCK):
                target.write(block)
        if partial.stat().st_size != size:
            raise NetworkError(f"{path} has {partial.stat().st_size} bytes instead of {size}.")
        if sha256 and _sha256_of(partial) != sha256:
            raise NetworkError(f"{path} was damaged in transit (SHA-256 differs).")
        os.replace(partial, local)
    finally:
        partial.unlink(missing_ok=True)
    return {"path": path, "file": str(local), "already": False}


def _sha256_of(local: Path) -> str:
    digest = hashlib.sha256()
    with local.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _quoted(path: str) -> str:
    return quote(path, safe="/!~*'()")


def _address_of(file: File) -> str:
    address = str(file["url"] or file.get("location"))
    if not re.match("https?://", address):
        where = f"{file['path']} is in your own store ({address}), and the service has no download address for it."
        raise ValueError(f"{where} Download it from that store.")
    return address
