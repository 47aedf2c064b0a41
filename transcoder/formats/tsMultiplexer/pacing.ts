// In charge of: how early a multiplex starts before its first frame, and how long a variable rate stays constant.
// Not in charge of: the packets of an interval (multiplexer.ts), the buffers (bufferLimits.ts).
import { frameSamples, videoStreams, type AudioCodec, type VideoCodec } from '../codecs.ts'
import { concatBytes } from '../concatBytes.ts'
import { PACKET_BYTES } from '../mpegts/packet.ts'
import type { AccessUnit } from './accessUnitReader.ts'
import { statedLevel, type BufferLimits } from './bufferLimits.ts'
import { SYSTEM_CLOCK_HZ, TICKS_PER_MS } from './leakyBucket.ts'
import type { MultiplexOptions } from './multiplexOptions.ts'
import type { StreamQueue } from './streamQueue.ts'

/** Fullness of the encoders' own buffer model when its first frame leaves. */
const START_FULLNESS = 0.9
export const MIN_START_DELAY = 200 * TICKS_PER_MS
/**
 * Used where peaks are allowed: a player that has read a second of the stream (VLC) then has more frames than its
 * decoder holds back.
 */
const START_DELAY = 695 * TICKS_PER_MS
/** Share of a level's rate that remains after headers and stuffing. */
const LEVEL_SHARE = 0.9
/**
 * Peaks are allowed where the level's rate exceeds the encoder's by this factor. The first packet is then sent closer
 * to the first frame.
 */
const PEAK = 2
/** The video rate including headers and stuffing. */
export const FLOOR_SHARE = 1.08
/** A variable rate is constant for one interval of this length. */
export const MAX_INTERVAL = 33 * TICKS_PER_MS
const MIN_INTERVAL = 4 * TICKS_PER_MS
/** PES headers and stuffing of an audio frame, in bytes. */
const AUDIO_EXTRA_BYTES = 30
const HEAD_BYTES = 4096
const frameSeconds = (codec: AudioCodec): number => frameSamples[codec] / 48_000

/** A variable rate may exceed the encoder's for a while, where the level allows it. */
export function allowsPeaks({ rateKbps, video }: MultiplexOptions, { transportRate }: BufferLimits): boolean {
  return rateKbps === null && transportRate > PEAK * video.maxKbps * 1000
}

/**
 * Time from the first packet to the first frame, in which the decoder's buffer reaches the fullness of the encoder's
 * model.
 */
export function startDelay(options: MultiplexOptions, limits: BufferLimits): number {
  const { codec, bufferBits, maxKbps } = options.video
  const within = (kbps: number): number => (START_FULLNESS * bufferBits * 27_000) / kbps
  const filling = allowsPeaks(options, limits)
    ? Math.max(
        within((LEVEL_SHARE * limits.transportRate) / 1000),
        Math.min(within(PEAK * LEVEL_SHARE * maxKbps), START_DELAY),
      )
    : within(maxKbps)
  return Math.min(Math.max(filling, MIN_START_DELAY), videoStreams[codec].longestHoldMs * TICKS_PER_MS)
}

/** The length of an interval, short enough that no audio buffer runs dry within it. */
export function intervalFor(audio: MultiplexOptions['audio'], queues: readonly StreamQueue[]): number {
  const audioQueues = queues.filter(({ kind }) => kind === 'audio')
  const longest = audio.map(({ codec, bitrateKbps }, track) => {
    const frame = bitrateKbps * 125 * frameSeconds(codec) + AUDIO_EXTRA_BYTES
    const spare = audioQueues[track]!.limits.bufferBytes - frame - PACKET_BYTES
    return ((spare / frame) * frameSeconds(codec) * SYSTEM_CLOCK_HZ) / 1.5
  })
  return Math.floor(Math.max(MIN_INTERVAL, Math.min(MAX_INTERVAL, ...longest)))
}

/** The level that the stream states in its first bytes; null = none. */
export function codecLevel(codec: VideoCodec, { blocks }: AccessUnit): number | null {
  const head: Uint8Array[] = []
  for (let bytes = 0, at = 0; bytes < HEAD_BYTES && at < blocks.length; bytes += blocks[at]!.length, at++)
    head.push(blocks[at]!)
  const bytes = concatBytes(head)
  return statedLevel(codec, bytes)
}
