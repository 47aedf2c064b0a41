"""In charge of: the loudness of raw 32-bit float samples at 48 kHz from standard input, by libebur128. The argument is the number
of channels, in WAVE order. Prints JSON. Not in charge of: decoding, which loudness is expected."""

import json
import sys

import numpy
from pyebur128 import ChannelType, MeasurementMode, R128State, get_loudness_global, get_true_peak

channels = int(sys.argv[1])
samples = numpy.frombuffer(sys.stdin.buffer.read(), dtype=numpy.float32)
state = R128State(channels, 48000, MeasurementMode.MODE_I | MeasurementMode.MODE_TRUE_PEAK)
if channels == 6:
    order = ["LEFT", "RIGHT", "CENTER", "UNUSED", "LEFT_SURROUND", "RIGHT_SURROUND"]
    for number, name in enumerate(order):
        state.set_channel(number, getattr(ChannelType, name))
state.add_frames(samples, len(samples) // channels)
peaks = [get_true_peak(state, number) for number in range(channels)]
print(json.dumps({"lufs": get_loudness_global(state), "true_peak": max(peaks), "seconds": len(samples) / channels / 48000}))
