# In charge of: the types of answers: what programs touch. Every answer has more members (/openapi.json).
from typing import Any, Dict, List, Literal, Optional, TypedDict


class StatusError(TypedDict):
    code: str
    message: str
    advice: str
    docs: str


class Output(TypedDict):
    path: str
    url: Optional[str]  # Download address that needs no key; None if there is none.
    location: str
    size: int
    sha256: str
    content_type: str
    role: str
    media: Optional[Dict[str, Any]]  # What was measured in the finished output.


class Status(TypedDict):
    job_id: str
    state: Literal["ready", "running", "error", "cancelled"]
    phase: str
    tcode_progress: str  # Percent.
    job_completed: bool  # True when the job has ended; `error` tells whether it failed.
    error: Optional[StatusError]
    warnings: List[Dict[str, Any]]
    outputs: List[Output]
    estimate: Optional[Dict[str, Any]]  # The result of a successful dry run.
    source: Optional[Dict[str, Any]]
    archive_url: Optional[str]
    eta_seconds: Optional[float]


class Job(TypedDict):
    status: Status
    config: Dict[str, Any]


class NamedJob(TypedDict):
    _auto_generated_id_: int
    job_id: str
    status: Status


class JobList(TypedDict):
    jobs: List[NamedJob]
    next_cursor: Optional[str]  # None on the last page.


class Share(TypedDict):
    share_id: str
    url: str
    embed_url: str
    embed_html: str
    has_password: bool
    expires_at: str


class Uploaded(TypedDict):
    uploaded_file_number: int
    input: str  # The `input` of a job.
    name: str
    size: int
    expires_at: str


class DownloadedFile(TypedDict):
    path: str  # Relative to the job's destination.
    file: str  # Where it is now.
    already: bool  # It was there, with the same content.
