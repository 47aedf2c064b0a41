// In charge of: flashes and beeps in what a player appended to the decoder, on the player's timeline.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { writeFile } from 'node:fs/promises'
import { readFragment } from '../../../transcoder/formats/mp4/movieFragment.ts'
import { readInit, type TrackInfo } from '../../../transcoder/formats/mp4/initSegment.ts'
import { ffmpeg } from '../../support/media/media.ts'
import type { PlaybackResult } from '../../support/browser/playerBrowser.ts'

/** Fragments that follow each other without a gap after one init segment. */
interface Stretch {
  init: Buffer<ArrayBuffer>
  track: TrackInfo
  /** Seconds of the timeline. */
  start: number
  end: number
  /** Expected start of the next fragment, in ticks. */
  next: number
  offset: number
  boxes: Buffer[]
}

const NEAR_TICKS = 2

function* boxes(bytes: Buffer): Generator<{ name: string; bytes: Buffer }> {
  for (let at = 0; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32BE(at)
    if (size < 8) throw new Error(`a box of ${size} bytes at ${at}`)
    yield { name: bytes.toString('latin1', at + 4, at + 8), bytes: bytes.subarray(at, at + size) }
    at += size
  }
}

function stretches(played: PlaybackResult, kind: 'audio' | 'video'): Stretch[] {
  const found: Stretch[] = []
  let init: { bytes: Buffer<ArrayBuffer>; track: TrackInfo } | null = null
  let head: Buffer = Buffer.alloc(0)
  for (const { offset, bytes } of played.appended.filter((each) => each.kind === kind)) {
    for (const container of boxes(bytes)) {
      if (container.name === 'ftyp') head = container.bytes
      else if (container.name === 'moov')
        init = { bytes: Buffer.concat([head, container.bytes]), track: readInit(container.bytes) }
      else if (container.name === 'moof') {
        if (init === null) throw new Error('a fragment came before its init segment')
        const { decodeTime, samples } = readFragment(container.bytes, init.track.defaults)
        const { timescale } = init.track
        const last = found.at(-1)
        const goesOn =
          last?.init === init.bytes && last.offset === offset && Math.abs(last.next - decodeTime) <= NEAR_TICKS
        const length = samples.reduce((sum, { duration }) => sum + duration, 0)
        const start = offset + (decodeTime + samples[0]!.offset) / timescale
        const usage: Stretch = goesOn
          ? last
          : { init: init.bytes, track: init.track, start, end: start, next: 0, offset, boxes: [] }
        if (!goesOn) found.push(usage)
        usage.next = decodeTime + length
        usage.end = offset + usage.next / timescale
        usage.boxes.push(container.bytes)
      } else if (container.name === 'mdat') found.at(-1)?.boxes.push(container.bytes)
    }
  }
  return found
}

function rises(length: number, rate: number, start: number, isOn: (index: number) => boolean): number[] {
  const found: number[] = []
  let last = -rate
  for (let index = 0; index < length; index += 1) {
    if (!isOn(index)) continue
    if (index - last > rate / 2) found.push(start + index / rate)
    last = index
  }
  return found
}

export interface AppendedMedia {
  flashes: number[]
  beeps: number[]
  /** [start, end] of each continuous range, in the order in which it was appended. */
  video: [number, number][]
  audio: [number, number][]
}

/** `rate`: frames per second. `file` makes a path for a name. */
export async function analyzeAppendedMedia(
  played: PlaybackResult,
  rate: number,
  file: (name: string) => string,
): Promise<AppendedMedia> {
  const result: AppendedMedia = { flashes: [], beeps: [], video: [], audio: [] }
  for (const kind of ['video', 'audio'] as const)
    for (const stretch of stretches(played, kind)) {
      result[kind].push([stretch.start, stretch.end])
      const path = file('stretch.mp4')
      await writeFile(path, Buffer.concat([stretch.init, ...stretch.boxes]))
      if (kind === 'video') {
        const raw = await ffmpeg([
          ...['-i', path, '-map', '0:v', '-fps_mode', 'passthrough', '-vf', 'scale=1:1'],
          ...['-pix_fmt', 'gray', '-f', 'rawvideo', '-'],
        ])
        result.flashes.push(...rises(raw.length, rate, stretch.start, (index) => raw[index]! > 128))
      } else {
        const raw = await ffmpeg(['-i', path, '-map', '0:a', '-ac', '1', '-ar', '48000', '-f', 'f32le', '-'])
        const isLoud = (index: number): boolean => Math.abs(raw.readFloatLE(index * 4)) > 0.2
        result.beeps.push(...rises(raw.length / 4, 48_000, stretch.start, isLoud))
      }
    }
  return result
}
