// In charge of: the frames of one PES packet of audio: where each ends, and when it is decoded.
// Not in charge of: decoder buffers (tstdModel.ts).

export interface AudioFrame {
  end: number
  /** After the packet's timestamp, in 90 kHz ticks. */
  ticks: number
  channels: number
}

const AAC_RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000]
const MPEG_RATES = [44_100, 48_000, 32_000]
const MPEG_LAYER2_KBPS = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384]
const AC3_KBPS = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]

function header(
  kind: 'aac' | 'mpeg' | 'ac3',
  media: Buffer,
  at: number,
): { bytes: number; samples: number; rate: number; channels: number } {
  if (kind === 'aac') {
    const configuration = ((media[at + 2]! & 1) << 2) | (media[at + 3]! >> 6)
    return {
      bytes: ((media[at + 3]! & 3) << 11) | (media[at + 4]! << 3) | (media[at + 5]! >> 5),
      samples: 1024,
      rate: AAC_RATES[(media[at + 2]! >> 2) & 15]!,
      channels: configuration,
    }
  }
  if (kind === 'mpeg') {
    const rate = MPEG_RATES[(media[at + 2]! >> 2) & 3]!
    const bytes = Math.floor((144_000 * MPEG_LAYER2_KBPS[media[at + 2]! >> 4]!) / rate) + ((media[at + 2]! >> 1) & 1)
    return { bytes, samples: 1152, rate, channels: 2 }
  }
  // A/52, 5.4.1: 48 kHz only, as this service writes it.
  return { bytes: AC3_KBPS[(media[at + 4]! & 0x3f) >> 1]! * 4, samples: 1536, rate: 48_000, channels: 6 }
}

export function audioFrames(kind: 'aac' | 'mpeg' | 'ac3', media: Buffer): AudioFrame[] {
  const frames: AudioFrame[] = []
  let ticks = 0
  for (let at = 0; at + 7 <= media.length;) {
    const { bytes, samples, rate, channels } = header(kind, media, at)
    if (!(bytes > 0)) throw new Error(`no frame of ${kind} at byte ${at}`)
    at += bytes
    frames.push({ end: at, ticks, channels })
    ticks += (samples * 90_000) / rate
  }
  return frames
}
