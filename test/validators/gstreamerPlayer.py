"""In charge of: playing an address with GStreamer to its end, faster than real time, and recording what reached the sinks.
Prints JSON. It runs on the system's Python, for which its packages are installed. Not in charge of: expectations."""

import json
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)
seen = {"video": [], "audio": []}
said = []


def sink(kind):
    made = Gst.ElementFactory.make("fakesink")
    made.set_property("sync", False)
    made.set_property("signal-handoffs", True)

    def keep(_sink, buffer, pad):
        # Presentation time: GStreamer represents an edit list as a segment.
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        time = segment.to_running_time(Gst.Format.TIME, buffer.pts)
        if time != Gst.CLOCK_TIME_NONE:
            seen[kind].append([time / Gst.SECOND, buffer.duration / Gst.SECOND])

    made.connect("handoff", keep)
    return made


player = Gst.ElementFactory.make("playbin3")
player.set_property("uri", sys.argv[1])
# Video and audio only; the volume is left unchanged.
player.set_property("flags", 3)
player.set_property("video-sink", sink("video"))
player.set_property("audio-sink", sink("audio"))
player.set_state(Gst.State.PLAYING)
wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
ended = False
while not ended:
    message = player.get_bus().timed_pop_filtered(60 * Gst.SECOND, wanted)
    if message is None:
        said.append("nothing happened for a minute")
        break
    ended = message.type == Gst.MessageType.EOS
    if message.type == Gst.MessageType.ERROR:
        said.append("error: " + str(message.parse_error()[1]))
        break
    if message.type == Gst.MessageType.WARNING and message.src.get_name() != "playsink":
        said.append("warning: " + str(message.parse_warning()[1]))
player.set_state(Gst.State.NULL)
print(json.dumps({"ended": ended, "said": said, **seen}))
