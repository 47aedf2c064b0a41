// In charge of: what a part of a survey found of the source's cues, as a member of its record.
// Not in charge of: finding it (analysis/traceCues.ts), the other members (surveyRecord.ts).
import { gunzipSync, gzipSync } from 'node:zlib'
import * as z from 'zod/mini'
import { TaskError } from '#contract/taskError.ts'
import { PACKET_BYTES } from '../formats/mpegts/packet.ts'
import type { CueEvent } from '../formats/scte35/cueReader.ts'
import type { CueTrace } from '../formats/scte35/cueTrace.ts'

/** Far less than a message of the task API may have. */
const MOST_BYTES = 8 * 1024 * 1024
const MOST_CONTENT_BYTES = 32 * 1024 * 1024
/** Most packets of a cue are filled up with it. */
const STUFFING = 0xff

const ticks = z.number().check(z.int(), z.gte(0), z.lt(2 ** 33))
const number = z.number().check(z.int(), z.gte(0))
const place = z.nullable(z.object({ offset: number, stride: z.nullable(number) }))
const stream = z.object({ pid: number, type: number })
const tables = z.object({ tables: z.array(number), clockPid: z.nullable(number), streams: z.array(stream) })
/** A clock, a frame, a packet of a cue, a cue stream. */
const event = z.union([z.tuple([ticks]), z.tuple([ticks, ticks]), z.string(), stream])
type EncodedEvent = z.infer<typeof event>
const traceSchema = z.object({ first: place, next: place, before: tables, after: tables, events: z.array(event) })

/** null = it is too much. */
export function encodeTrace(trace: CueTrace): string | null {
  const content = JSON.stringify({ ...trace, events: trace.events.map(encodeEvent) })
  const encoded = gzipSync(content).toString('base64')
  return encoded.length > MOST_BYTES || content.length > MOST_CONTENT_BYTES ? null : encoded
}

/** Throws internal. */
export function decodeTrace(encoded: string): CueTrace {
  try {
    const text = gunzipSync(Buffer.from(encoded, 'base64'), { maxOutputLength: MOST_CONTENT_BYTES }).toString('utf8')
    const trace = traceSchema.parse(JSON.parse(text))
    return { ...trace, events: trace.events.map(decodeEvent) }
  } catch (error) {
    throw new TaskError('internal', 'What a part of this job says of the cues cannot be read.', { cause: error })
  }
}

function encodeEvent(event: CueEvent): EncodedEvent {
  switch (event.kind) {
    case 'clock':
      return [event.ticks]
    case 'frame':
      return [event.pts, event.dts]
    case 'stream':
      return { pid: event.pid, type: event.type }
    case 'cue':
      return Buffer.from(event.packet.subarray(0, contentBytes(event.packet))).toString('base64')
  }
}

function decodeEvent(event: EncodedEvent): CueEvent {
  if (typeof event === 'string') {
    const packet = new Uint8Array(PACKET_BYTES).fill(STUFFING)
    packet.set(Buffer.from(event, 'base64').subarray(0, PACKET_BYTES))
    return { kind: 'cue', packet }
  }
  if (!Array.isArray(event)) return { kind: 'stream', ...event }
  return event.length === 1 ? { kind: 'clock', ticks: event[0] } : { kind: 'frame', pts: event[0], dts: event[1] }
}

function contentBytes(packet: Uint8Array): number {
  return packet.findLastIndex((byte) => byte !== STUFFING) + 1
}
