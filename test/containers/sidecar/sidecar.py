#!/usr/bin/env python3
"""In charge of: the network of one container under `wrangler dev`. The runtime starts this program beside the container, in
its network namespace: whatever the container sends leaves by way of the runtime, which hands it to the Worker or ends it,
and the runtime reaches the container's ports through here.
Not in charge of: what is allowed: that is the runtime's, from what the Worker told it.

Stricter than it must be: the machine's own bridge is no exception, so that a connection to it is decided by the runtime too.
IPv4 only, and TLS is never opened: the transcoder speaks to one name, over http.
"""

import argparse
import fnmatch
import json
import socket
import struct
import subprocess
import sys
import threading

# The mark distinguishes this program's connections from the container's; setting it needs a capability that the container
# lacks.
MARK = 100
EGRESS_PORT = 41209
DNS_PORT = 41053
# Any address works: packets to it are redirected below, and the runtime uses the host name in the request. This one is
# reserved for benchmarking (RFC 2544).
ANSWER = socket.inet_aton("198.18.0.1")
GATEWAY = "host.docker.internal"
MAX_HEAD = 128 * 1024
CHUNK = 256 * 1024
METHODS = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"PATCH ", b"DELETE ", b"OPTIONS ")

RULES = f"""*nat
-A OUTPUT -o lo -j RETURN
-A OUTPUT -m mark --mark {MARK} -j RETURN
-A OUTPUT -p udp --dport 53 -j REDIRECT --to-ports {DNS_PORT}
-A OUTPUT -p tcp -j REDIRECT --to-ports {EGRESS_PORT}
COMMIT
*filter
-A OUTPUT -d 127.0.0.0/8 -j ACCEPT
-A OUTPUT -o lo -j ACCEPT
-A OUTPUT -m mark --mark {MARK} -j ACCEPT
-A OUTPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
-A OUTPUT -j REJECT
COMMIT
"""


class Settings:
    """What the runtime may change while this runs."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.names: list[str] = []

    def change(self, wanted: dict) -> None:
        if "port" in wanted:
            self.port = int(wanted["port"])
        self.names = [name.lower() for name in wanted.get("dns", {}).get("allowHostnames", self.names)]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def start(work, *args) -> None:
    threading.Thread(target=work, args=args, daemon=True).start()


def connect(address: tuple[str, int]) -> socket.socket:
    made = socket.socket()
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, MARK)
        made.connect(address)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        made.close()
        raise
    return made


def reset(connection: socket.socket) -> None:
    """The other side sees a broken connection, not the end of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def read_head(connection: socket.socket) -> tuple[bytes, bytes]:
    """Up to and with the empty line, and what came behind it. The head is incomplete when the other side ended before."""
    taken = b""
    while b"\r\n\r\n" not in taken and len(taken) < MAX_HEAD:
        more = connection.recv(8192)
        if not more:
            return taken, b""
        taken += more
    head, _, rest = taken.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def header(head: bytes, name: str) -> str | None:
    for line in head.decode("latin-1").split("\r\n")[1:]:
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip()
    return None


def pump(source: socket.socket, target: socket.socket) -> None:
    """Reads no more than the other side has taken; an end is passed on as an end, a broken connection as a broken one."""
    buffer = memoryview(bytearray(CHUNK))
    try:
        while count := source.recv_into(buffer):
            target.sendall(buffer[:count])
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def join(one: socket.socket, other: socket.socket) -> None:
    back = threading.Thread(target=pump, args=(other, one), daemon=True)
    back.start()
    pump(one, other)
    back.join()
    one.close()
    other.close()


def hostname(connection: socket.socket) -> tuple[str | None, bytes]:
    """Of an HTTP request, and what was read to find it. Something else than HTTP has none."""
    taken = connection.recv(8192)
    if not taken.startswith(METHODS):
        return None, taken
    while b"\r\n\r\n" not in taken and len(taken) < MAX_HEAD:
        more = connection.recv(8192)
        if not more:
            break
        taken += more
    return header(taken.partition(b"\r\n\r\n")[0], "host"), taken


def leave(connection: socket.socket, source: tuple[str, int], gateway: str, settings: Settings) -> None:
    """One connection of the container: asks the runtime for it, and carries it where that agrees."""
    # Its destination before the rules above redirected it (SO_ORIGINAL_DST).
    port, address = struct.unpack("!2xH4s8x", connection.getsockopt(socket.SOL_IP, 80, 16))
    target = f"{socket.inet_ntoa(address)}:{port}"
    try:
        name, taken = hostname(connection) if port == 80 else (None, b"")
        way = connect((gateway, settings.port))
    except OSError as error:
        say(f"{target}: {error}")
        return reset(connection)
    try:
        lines = [
            f"CONNECT {target} HTTP/1.1",
            f"Host: {target}",
            f"X-Forwarded-For: {source[0]}:{source[1]}",
            "X-Proto: tcp",
        ]
        if name is not None:
            lines.append(f"X-Hostname: {name}")
        way.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head, rest = read_head(way)
        status = head.split(b" ")[1:2]
        if not status or not status[0].startswith(b"2"):
            say(f"{target}: refused with {head[:60]!r}")
            way.close()
            return reset(connection)
        if taken:
            way.sendall(taken)
        if rest:
            connection.sendall(rest)
    except OSError as error:
        say(f"{target}: {error}")
        way.close()
        return reset(connection)
    join(connection, way)


def enter(connection: socket.socket, settings: Settings) -> None:
    """The runtime's side: a way to a port of the container, or a change of settings."""

    def answer(status: str, body: bytes = b"") -> None:
        length = "" if status.startswith("204") else f"Content-Length: {len(body)}\r\n"
        connection.sendall(f"HTTP/1.1 {status}\r\n{length}Connection: close\r\n\r\n".encode() + body)
        connection.close()

    try:
        head, rest = read_head(connection)
        if not head:
            return connection.close()
        method, path = head.decode("latin-1").split(" ")[:2]
        if method == "CONNECT":
            host, _, port = (header(head, "x-dst-addr") or "").rpartition(":")
            try:
                way = connect((host, int(port)))
            except (OSError, ValueError):
                return answer("400 Bad Request")
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            if rest:
                way.sendall(rest)
            return join(connection, way)
        if method == "GET" and path == "/ca":
            # The runtime always requests it, and uses it for containers whose TLS is intercepted, which never happens here.
            return answer("200 OK", b"TLS is not opened here.\n")
        if method == "PUT" and path == "/egress":
            length = int(header(head, "content-length") or 0)
            while len(rest) < length:
                more = connection.recv(length - len(rest))
                if not more:
                    return connection.close()
                rest += more
            settings.change(json.loads(rest))
            return answer("204 No Content")
        return answer("404 Not Found")
    except (OSError, ValueError) as error:
        say(f"from the runtime: {error}")
        connection.close()


def resolve(query: bytes, settings: Settings) -> bytes:
    """An answer to a question for one name: an address where the Worker wants the name, else that there is none."""
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += query[at] + 1
    name = ".".join(labels).lower()
    kind, _ = struct.unpack_from("!HH", query, at + 1)
    question = query[12 : at + 5]
    known = any(fnmatch.fnmatchcase(name, pattern) for pattern in settings.names)
    # 3: no such name (NXDOMAIN). A known name has an IPv4 address and no other record.
    code, answers = (0, 1 if kind == 1 else 0) if known else (3, 0)
    asked = struct.unpack_from("!H", query, 2)[0]
    head = query[:2] + struct.pack("!5H", 0x8400 | (asked & 0x0100) | code, 1, answers, 0, 0)
    record = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + ANSWER
    return head + question + record * answers


def serve_names(listener: socket.socket, settings: Settings) -> None:
    while True:
        query, source = listener.recvfrom(4096)
        try:
            listener.sendto(resolve(query, settings), source)
        except (IndexError, struct.error, OSError) as error:
            say(f"name: {error}")


def accept(listener: socket.socket, work) -> None:
    while True:
        connection, source = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start(work, connection, source)


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--http-egress-port", type=int, required=True)
    parser.add_argument("--http-ingress-address", required=True)
    parser.add_argument("--docker-gateway-cidr")
    parser.add_argument("--dns-enabled", action="store_true")
    parser.add_argument("--tls-intercept", action="store_true")
    parser.add_argument("--disable-ipv6", action="store_true")
    given = parser.parse_args()
    if not given.disable_ipv6:
        sys.exit("This sidecar speaks IPv4 only: start the engine without IPv6 on its bridge.")

    settings = Settings(given.http_egress_port)
    gateway = socket.gethostbyname(GATEWAY)
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(("127.0.0.1", DNS_PORT))
    egress = socket.create_server(("127.0.0.1", EGRESS_PORT), backlog=512)
    subprocess.run(["iptables-restore", "--wait"], input=RULES, text=True, check=True)
    start(serve_names, names, settings)
    start(accept, egress, lambda connection, source: leave(connection, source, gateway, settings))
    # Last, because the runtime starts the container as soon as this answers.
    host, _, port = given.http_ingress_address.rpartition(":")
    ingress = socket.create_server((host, int(port)), backlog=512)
    accept(ingress, lambda connection, source: enter(connection, settings))


main()
