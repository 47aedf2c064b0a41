# In charge of: sending one request: address, credentials, and every failure as one of two errors.
# Not in charge of: which requests exist (__init__.py, _upload.py).
import base64
import json
import time
from email.message import Message
from http.client import HTTPException, HTTPResponse
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple, TypeVar, Union
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

T = TypeVar("T")
Body = Union[bytes, Iterable[bytes], None]
Headers = Mapping[str, str]
AGENT = {"User-Agent": "splicepoint-python"}  # Cloudflare may refuse the name that urllib sends (error 1010).


class ServiceError(Exception):
    """The service refused. `code` is None if the answer does not come from the service (a proxy, another program).

    `details` of a refused job: its problems. `advice` and `docs`: what to do. str() shows all of it.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        told: Dict[str, Any] = {}
        try:
            error = json.loads(text)["error"]
            if isinstance(error["code"], str) and isinstance(error["message"], str):
                told = error
        except (ValueError, TypeError, KeyError):
            pass
        strange = f"The address answered HTTP {status} without an error message. Is it a Splicepoint service?"
        self.status = status
        self.code: Optional[str] = told.get("code")
        self.message: str = told.get("message", strange)
        self.field: Optional[str] = told.get("field")
        self.details: Any = told.get("details")
        self.advice: Optional[str] = told.get("advice")
        self.docs: Optional[str] = told.get("docs")

    def __str__(self) -> str:
        code = f"({self.code}, HTTP {self.status})" if self.code else f"(HTTP {self.status})"
        problems = self.details if isinstance(self.details, list) else []
        lines = [_line(each) for each in problems] or [_line({"field": self.field, "message": self.message})]
        lines[0] += f" {code}"
        if self.details and not problems:
            lines.append(json.dumps(self.details))
        return "\n  ".join([*lines, *filter(None, (self.advice, self.docs))])


class NetworkError(Exception):
    """There was no answer, an incomplete one, or one whose content differs from what was announced."""


def _line(problem: Mapping[str, Any]) -> str:
    field, message = problem.get("field") or "", str(problem.get("message"))
    allowed = {name: problem[name] for name in ("allowed", "minimum", "maximum") if name in problem}
    values = [each for value in allowed.values() for each in (value if isinstance(value, list) else [value])]
    # Most messages contain them already.
    hint = "" if all(str(value) in message for value in values) else f" {json.dumps(allowed)}"
    return f"{'' if field in message else f'{field}: '}{message}{hint}"


def is_transient(error: Exception) -> bool:
    """Whether a retry may help."""
    return not isinstance(error, ServiceError) or error.status >= 500 or error.code == "rate_limited"


def repeated(work: Callable[[], T]) -> T:
    for failed in (1, 2, 3):
        try:
            return work()
        except (ServiceError, NetworkError) as error:
            if not is_transient(error):
                raise
        time.sleep(0.5 * failed)
    return work()


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        """urllib would repeat a POST as a GET, and send the key to the other host."""


_opener, _opener_of_files = build_opener(_NoRedirects), build_opener()


class Service:
    def __init__(self, address: str, key: str, timeout: float) -> None:
        if urlsplit(address).scheme not in ("http", "https"):
            raise ValueError(f"{address!r} is not the http or https address of a service.")
        self.base, self.timeout = address.rstrip("/"), timeout
        self._own = {**AGENT, "Authorization": f"Basic {base64.b64encode(f'{key}:'.encode()).decode()}"}

    def send(self, method: str, path: str, body: Body = None, headers: Headers = {}) -> Tuple[Message, bytes]:
        request = Request(self.base + path, body, {**headers, **self._own}, method=method)
        with _open(request, self.timeout, _opener) as answer:
            return answer.headers, read_bytes(answer)

    def json(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, headers: Headers = {}) -> Any:
        if body is None:
            text = self.send(method, path, None, headers)[1]
        else:
            headers = {"Content-Type": "application/json", **headers}
            text = self.send(method, path, json.dumps(dict(body)).encode(), headers)[1]
        try:
            return json.loads(text)
        except ValueError as error:
            raise NetworkError(f"The answer of {self.base} is not valid JSON.") from error


def open_file(address: str, timeout: float) -> HTTPResponse:
    """Opens an address that needs no key."""
    return _open(Request(address, headers=AGENT), timeout, _opener_of_files)


def _open(request: Request, timeout: float, opener: OpenerDirector) -> HTTPResponse:
    try:
        return opener.open(request, timeout=timeout)
    except HTTPError as refusal:
        with refusal:
            raise ServiceError(refusal.code, read_bytes(refusal).decode(errors="replace")) from None
    except (OSError, HTTPException) as error:
        raise _no_answer(request.full_url, error) from error


def read_bytes(answer: Any, size: Optional[int] = None) -> bytes:
    try:
        return answer.read(size) if size else answer.read()
    except (OSError, HTTPException) as error:
        raise _no_answer(answer.url, error) from error


def _no_answer(address: str, error: Exception) -> NetworkError:
    return NetworkError(f"No complete answer from {urlsplit(address).netloc}: {getattr(error, 'reason', error)}.")
