"""In charge of: reading SCTE-35 cues with threefive: `ts FILE...` from transport streams, `text CUE...` in base64 or hexadecimal.
Prints a JSON array. Not in charge of: which cues are expected."""

import contextlib
import io
import json
import sys

import threefive


def described(cue, arrives=None):
    command = cue.command
    crc = cue.info_section.crc
    # Encoding a cue recomputes its CRC.
    cue.encode()
    return {
        "command": command.name,
        "event": getattr(command, "splice_event_id", None),
        "out": getattr(command, "out_of_network_indicator", None),
        "pts": getattr(command, "pts_time", None),
        "adjustment": cue.info_section.pts_adjustment,
        "duration": getattr(command, "break_duration", None),
        "arrives": arrives,
        "whole": cue.info_section.crc == crc,
    }


def in_stream(path):
    found = []
    said = io.StringIO()
    # threefive prints its messages about a damaged cue to standard output.
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        stream = threefive.Stream(path, show_null=True)
        stream.decode(func=lambda cue: found.append(described(cue, getattr(cue.packet_data, "pts", None))))
    return {"cues": found, "said": said.getvalue().strip()}


def in_text(text):
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        cue = threefive.Cue(text)
        decoded = cue.decode()
    return {"cues": [described(cue)] if decoded else [], "said": said.getvalue().strip()}


read = {"ts": in_stream, "text": in_text}[sys.argv[1]]
print(json.dumps([read(one) for one in sys.argv[2:]]))
