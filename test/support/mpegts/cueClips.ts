// In charge of: clips with cues, made by ffmpeg and our own injector, and reading cues, counters and bitrates back.
// Not in charge of: expectations.
import { readFile, writeFile } from 'node:fs/promises'
import { readPesTimestamps, TICKS_PER_SECOND } from '../../../transcoder/formats/mpegts/clock.ts'
import { CueInjector } from '../../../transcoder/formats/scte35/cueInjector.ts'
import { PacketReader, payloadOf, pidOf, isPayloadStart } from '../../../transcoder/formats/mpegts/packet.ts'
import { CueScan, type Cue, type CueFindings } from '../../../transcoder/formats/scte35/cueScan.ts'
import { readSplice } from '../../../transcoder/formats/scte35/spliceInfo.ts'
import { makeClip, type ClipOptions } from '../media/media.ts'

export const FIRST_VIDEO_PID = 0x100

/**
 * A cue whose times count from the first frame, placed at `seconds` of the clock, or just before the frame of that
 * time.
 */
export function cueAtSeconds(seconds: number, section: Uint8Array, by: Cue['position']['by'] = 'clock'): Cue {
  return { section, shift: 0, position: { by, ticks: Math.round(seconds * TICKS_PER_SECOND) } }
}

/** Inserts cues into a transport stream, chunk by chunk. */
export function insertCues(
  bytes: Uint8Array,
  cues: readonly Cue[],
  pid: number,
  rateKbps: number | null = null,
  step = 65_536,
): Buffer {
  const injector = new CueInjector({ pid, cueStreamType: 1, rateKbps, cues })
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += step) parts.push(injector.push(bytes.subarray(at, at + step)))
  return Buffer.concat([...parts, injector.end()])
}

export async function makeCueClip(
  path: string,
  options: ClipOptions,
  cues: readonly Cue[],
  pid = 600,
): Promise<Buffer> {
  await makeClip(path, options)
  const bytes = insertCues(await readFile(path), cues, pid)
  await writeFile(path, bytes)
  return bytes
}

export function splitPackets(bytes: Uint8Array): Uint8Array[] {
  const reader = new PacketReader()
  return [...reader.push(bytes), ...reader.end()]
}

/** PTS of the first frame of a stream with closed GOPs. */
export function firstPts(bytes: Uint8Array, pid = FIRST_VIDEO_PID): number {
  for (const packet of splitPackets(bytes)) {
    const stamps = pidOf(packet) === pid && isPayloadStart(packet) ? readPesTimestamps(payloadOf(packet)) : null
    if (stamps !== null) return stamps.pts
  }
  throw new Error(`no picture on PID ${pid}`)
}

export function scanCues(bytes: Uint8Array, pid = FIRST_VIDEO_PID, origin = firstPts(bytes, pid)): CueFindings {
  const found = new CueScan(pid, origin)
  for (const packet of splitPackets(bytes)) found.push(packet)
  return found.found
}

export interface ReadCue {
  kind: string
  eventId: number | null
  /** Seconds after the first frame. */
  arrives: number
  splices: number[]
}

/** The cues of a stream as a receiver sees them. */
export function readCues(bytes: Uint8Array, pid = FIRST_VIDEO_PID, origin = firstPts(bytes, pid)): ReadCue[] {
  return scanCues(bytes, pid, origin).cues.map(({ section, position, shift }) => {
    const info = readSplice(section)
    if (info === null) throw new Error('a damaged cue')
    const { command } = info
    return {
      kind: command.kind,
      eventId: command.kind === 'insert' ? command.eventId : (info.segmentations[0]?.eventId ?? null),
      arrives: position.ticks / TICKS_PER_SECOND,
      splices:
        command.kind === 'insert' || command.kind === 'signal'
          ? command.times.map((time) => seconds(time + shift))
          : [],
    }
  })
}

function seconds(ticks: number): number {
  const period = 2 ** 33
  const shown = ((ticks % period) + period) % period
  return (shown >= period / 2 ? shown - period : shown) / TICKS_PER_SECOND
}
