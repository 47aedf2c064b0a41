// In charge of: which errors are explained by a recording that ends within a packet: errors of the last packet of a
// stream, for one frame at most.
// Not in charge of: how the file ends (streamEnding.ts), counting the remaining errors (damageMonitor.ts).
import type { LastPacket } from './streamEnding.ts'

export interface Event {
  kind: 'packet' | 'frame' | 'message'
  stream: number | null
  /** Position in the outputs, in seconds. */
  seconds: number
  /** The packet's own time stamp; null = the position is taken from the progress. */
  ticks: number | null
  /** Upper limit of the position; infinite until the next progress report. */
  latestSeconds: number
  /** The message; empty for a packet or a frame. */
  text: string
}

export interface End {
  stream: number
  /** Position in the outputs, in seconds. */
  seconds: number
  /** null = how the stream ends is unknown. */
  last: LastPacket | null
}

export const EDGE_SECONDS = 1
const CUT_MESSAGES = 6
/** A DTS has 33 bits. */
const CLOCK = 2 ** 33

/** `events`: in the order of ffmpeg's messages. `endSeconds`: the end of the source. */
export function withoutCutEnd(events: readonly Event[], ends: readonly End[], endSeconds: number): Event[] {
  const cut = new Set(ends.flatMap((end) => cutEnd(events, end)))
  if (cut.size > 0) for (const event of fewMessages(lastOf(events, null, endSeconds))) cut.add(event)
  return events.filter((event) => !cut.has(event))
}

/** The events of one stream after the last one that is certainly before the end. */
function lastOf(events: readonly Event[], stream: number | null, endSeconds: number): Event[] {
  const own = events.filter((event) => event.stream === stream)
  return own.slice(own.findLastIndex(({ latestSeconds }) => latestSeconds < endSeconds - EDGE_SECONDS) + 1)
}

/** The events that the truncated last packet may explain. */
export function cutEnd(events: readonly Event[], { stream, seconds, last }: End): Event[] {
  if (last?.isWhole === true) return []
  const own = lastOf(events, stream, seconds)
  const stamped = own.filter(({ ticks }) => ticks !== null)
  if (stamped.length > 1) return []
  const [packet] = stamped
  if (packet !== undefined && last !== null && (packet.ticks! - last.ticks) % CLOCK !== 0) return []
  // The packet is read before it is decoded: errors before it have another cause.
  const decoded = packet === undefined ? own : own.slice(own.indexOf(packet) + 1)
  const { packet: refuses = true, frame: conceals = true, message: complains = true } = last?.explains ?? {}
  const refused = refuses ? decoded.findLast(({ kind }) => kind === 'packet') : undefined
  const frame = conceals ? decoded.findLast(({ kind }) => kind === 'frame') : undefined
  const found = [packet, refused, frame].filter((event) => event !== undefined)
  // Some decoders only log an error message.
  return complains && (found.length > 0 || last !== null) ? [...found, ...fewMessages(decoded)] : found
}

function fewMessages(events: readonly Event[]): Event[] {
  const messages = events.filter(({ kind }) => kind === 'message')
  return messages.length > CUT_MESSAGES ? [] : messages
}
