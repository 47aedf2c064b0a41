"""In charge of: libmediainfo's report about files: its conformance remarks, and the facts that policies check. Prints a JSON
array of tracks for each file. Not in charge of: which findings are accepted."""

import json
import sys

from pymediainfo import MediaInfo

print(json.dumps([[track.to_data() for track in MediaInfo.parse(path, full=True).tracks] for path in sys.argv[1:]]))
