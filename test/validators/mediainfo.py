"""In charge of: what libmediainfo says about files: its remarks on conformance, and the facts that policies ask for. Prints a JSON
array of tracks for each file. Not in charge of: what is accepted."""

import json
import sys

from pymediainfo import MediaInfo

print(json.dumps([[track.to_data() for track in MediaInfo.parse(path, full=True).tracks] for path in sys.argv[1:]]))
