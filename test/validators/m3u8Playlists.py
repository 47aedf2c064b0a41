"""In charge of: reading HLS playlists with the m3u8 package: whether it can parse them, and whether EXT-X-VERSION is high enough for
the tags they use. Prints a JSON array of arrays of sentences. Not in charge of: the content of the playlists."""

import json
import sys

import m3u8
from m3u8 import version_matching


def said(path):
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read()
        read = m3u8.loads(lines)
        empty = not (read.segments or read.playlists)
        return [str(error) for error in version_matching.validate(lines.splitlines())] + (["nothing in it"] if empty else [])
    except Exception as error:  # whatever it says is what is asked
        return [f"{type(error).__name__}: {error}"]


print(json.dumps([said(path) for path in sys.argv[1:]]))
