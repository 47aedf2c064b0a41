// In charge of: one elementary stream before it enters the multiplex: its PES packets, and the fullness of its
// decoder's buffers; DVB subtitles that begin before the video and are still shown at its start (ETSI EN 300 743, 7.2).
// Not in charge of: the order among streams (multiplexer.ts).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { PACKET_BYTES } from '../mpegts/packet.ts'
import { LeakyBucket, SYSTEM_CLOCK_HZ } from './leakyBucket.ts'
import type { BufferLimits } from './bufferLimits.ts'
import type { PacketWriter } from './packetWriter.ts'
import { pesHeader, restamped } from './pesHeader.ts'
import type { AccessUnit } from './accessUnitReader.ts'
import { concatBytes } from '../concatBytes.ts'

const TICK = 300
/** Time from the second buffer of video to the last one, and half a packet at low rates: 5 ms. */
const TRANSFER_TICKS = SYSTEM_CLOCK_HZ / 200
/** Payload of a packet without an adaptation field. */
export const PAYLOAD_BYTES = 184
/** Audio frames share a PES packet up to this size: 16 packets, with little stuffing. */
const GROUP_BYTES = 16 * PAYLOAD_BYTES

/** The PES packet that is being sent. */
interface PesInProgress {
  blocks: Uint8Array[]
  bytes: number
  /** Position: index of the byte array, offset in it, and bytes in total. */
  blockIndex: number
  offset: number
  sent: number
  isKey: boolean
  /** Where its units end, and their decoding times. */
  ends: { at: number; time: number }[]
  /** The number of `ends` that were reached, and the bytes up to the last of them. */
  reached: number
  counted: number
}

export interface StreamQueueOptions {
  /** The PID in the output. */
  pid: number
  kind: 'video' | 'audio' | 'data'
  limits: BufferLimits
  /** How long before its decoding time a unit may be sent, in 27 MHz ticks. */
  maxLead: number
}

export class StreamQueue {
  readonly pid: number
  readonly kind: StreamQueueOptions['kind']
  readonly maxLead: number
  readonly limits: BufferLimits
  readonly #transport: LeakyBucket
  readonly #margin: number
  readonly #queue: AccessUnit[] = []
  #head = 0
  #sending: PesInProgress | null = null
  #counter = 0
  /** Bytes in the decoder's buffer, and when it removes them. */
  #decoderBytes = 0
  readonly #removals: { time: number; bytes: number }[] = []
  #removed = 0
  /** Number of units whose last byte arrived after their decoding time. */
  lateUnits = 0
  /** Number of complete PES packets sent. */
  sentPackets = 0

  constructor({ pid, kind, limits, maxLead }: StreamQueueOptions) {
    this.pid = pid
    this.kind = kind
    this.limits = limits
    this.maxLead = maxLead
    this.#transport = new LeakyBucket(limits.transportBytes, limits.transportRate)
    // Bytes in the transport buffer have not yet reached the decoder.
    this.#margin = Math.ceil((limits.transportBytes * 8 * SYSTEM_CLOCK_HZ) / limits.transportRate) + TRANSFER_TICKS
  }

  add(unit: AccessUnit): void {
    this.#queue.push(unit)
  }

  get isEmpty(): boolean {
    return this.#sending === null && this.#head === this.#queue.length
  }

  /** The next unit that has not been started; null where there is none. */
  get nextUnit(): AccessUnit | null {
    return this.#queue[this.#head] ?? null
  }

  /** True where the next packet begins a PES packet. */
  get isAtPesStart(): boolean {
    return this.#sending === null
  }

  /** Time by which the next packet must arrive; null where none may be sent now. */
  deadline(now: number): number | null {
    const due = this.#due()
    if (due === null || (this.#sending === null && due - this.maxLead > now)) return null
    this.#removeDecoded(now)
    const left =
      this.#sending === null ? PAYLOAD_BYTES : Math.min(PAYLOAD_BYTES, this.#sending.bytes - this.#sending.sent)
    if (!this.#transport.hasRoom(now, PACKET_BYTES)) return null
    // A late unit is sent at once: it may be larger than the buffer.
    if (this.#decoderBytes + left > this.limits.bufferBytes && due > now) return null
    return due - this.#margin
  }

  #due(): number | null {
    if (this.#sending !== null) return this.#sending.ends[this.#sending.reached]!.time
    return this.nextUnit === null ? null : decodeTime(this.nextUnit)
  }

  /** Number of packets that may be sent at once: the buffer has room for them. */
  packetsThatFit(now: number): number {
    this.#removeDecoded(now)
    const freeBytes = Math.max(
      this.limits.bufferBytes - this.#decoderBytes,
      (this.#due() ?? Infinity) <= now ? PAYLOAD_BYTES : 0,
    )
    return Math.floor(Math.min(freeBytes, this.#eligibleBytes(now)) / PAYLOAD_BYTES + 0.999)
  }

  /** Bytes of units that may already be sent. */
  #eligibleBytes(now: number): number {
    let bytes = this.#sending === null ? 0 : this.#sending.bytes - this.#sending.sent
    for (let at = this.#head; at < this.#queue.length; at++) {
      const unit = this.#queue[at]!
      if (decodeTime(unit) - this.maxLead > now || bytes > this.limits.bufferBytes) break
      bytes += unit.bytes
    }
    return bytes
  }

  /** The lowest constant rate, in packets per `span`, at which everything known arrives in time. */
  requiredPackets(now: number, span: number): number {
    let packets = 0
    let fastest = 0
    const count = (bytes: number, time: number): void => {
      packets += Math.ceil(bytes / PAYLOAD_BYTES)
      const left = time - this.#margin - span - now
      fastest = Math.max(fastest, left <= span ? packets : (packets * span) / left)
    }
    if (this.#sending !== null) count(this.#sending.bytes - this.#sending.sent, this.#due()!)
    for (let at = this.#head; at < this.#queue.length; at++) {
      const unit = this.#queue[at]!
      if (decodeTime(unit) - this.maxLead > now) break
      count(unit.bytes, decodeTime(unit))
    }
    return fastest
  }

  /** Writes the next packet, with a PCR if one is given. */
  send(out: PacketWriter, now: number, clock: number | null): void {
    this.#sending ??= this.#beginPes(now)
    const sending = this.#sending
    const isAtPesStart = sending.sent === 0
    const written = out.writePayload({
      pid: this.pid,
      counter: this.#counter,
      begins: isAtPesStart,
      isKey: isAtPesStart && sending.isKey,
      clock,
      remaining: sending.bytes - sending.sent,
      copy: (target, at, bytes) => copyPayload(sending, target, at, bytes),
    })
    this.#counter = (this.#counter + 1) & 15
    this.#transport.add(now, PACKET_BYTES)
    this.#decoderBytes += written
    sending.sent += written
    while (sending.reached < sending.ends.length && sending.ends[sending.reached]!.at <= sending.sent) {
      const { at, time } = sending.ends[sending.reached]!
      this.#removals.push({ time, bytes: at - sending.counted })
      if (now > time) this.lateUnits += 1
      sending.counted = at
      sending.reached += 1
    }
    if (sending.sent < sending.bytes) return
    this.#sending = null
    this.sentPackets += 1
  }

  /** Counter of the stream's last packet: a packet without payload repeats it (2.4.3.3). */
  get counter(): number {
    return (this.#counter + 15) & 15
  }

  #beginPes(now: number): PesInProgress {
    const first = this.#shift()
    const { blocks } = first
    const sending: PesInProgress = {
      ...{ blocks, bytes: first.bytes, blockIndex: 0, offset: 0, sent: 0, isKey: first.isKey && this.kind === 'video' },
      ...{ ends: [{ at: first.bytes, time: decodeTime(first) }], reached: 0, counted: 0 },
    }
    if (this.kind === 'video') {
      // 2.4.3.7: data_alignment_indicator, because the payload begins with the access unit.
      const head = Uint8Array.from(blocks[0]!)
      head[6] = head[6]! | 4
      sending.blocks = [head, ...blocks.slice(1)]
    }
    if (this.kind !== 'audio') return sending
    const frames = [first]
    // Only frames that may already be sent: whether later ones are known depends on the timing of the input.
    for (let bytes = first.bytes; this.nextUnit !== null && decodeTime(this.nextUnit) - this.maxLead <= now;) {
      bytes += this.nextUnit.bytes - this.nextUnit.headerBytes
      if (bytes > GROUP_BYTES) break
      frames.push(this.#shift())
    }
    return { ...sending, ...groupFrames(frames) }
  }

  #shift(): AccessUnit {
    const unit = this.#queue[this.#head]!
    this.#head += 1
    if (this.#head > 64 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head)
      this.#head = 0
    }
    return unit
  }

  /** Removes the units that the decoder has decoded by now. */
  #removeDecoded(now: number): void {
    while (this.#removed < this.#removals.length && this.#removals[this.#removed]!.time <= now) {
      this.#decoderBytes -= this.#removals[this.#removed]!.bytes
      this.#removed += 1
    }
    if (this.#removed <= 256) return
    this.#removals.splice(0, this.#removed)
    this.#removed = 0
  }
}

/** Decoding time of a unit in 27 MHz ticks. */
export function decodeTime(unit: AccessUnit): number {
  return unit.dts * TICK
}

/** Several frames in one PES packet. */
function groupFrames(frames: readonly AccessUnit[]): Pick<PesInProgress, 'blocks' | 'bytes' | 'ends'> {
  const first = frames[0]!
  const media = frames.reduce((sum, frame) => sum + frame.bytes - frame.headerBytes, 0)
  const header = pesHeader(first.blocks[0]![3]!, first.pts, media)
  const blocks = [header]
  const ends: PesInProgress['ends'] = []
  let at = header.length
  for (const frame of frames) {
    blocks.push(frame.blocks[0]!.subarray(frame.headerBytes), ...frame.blocks.slice(1))
    at += frame.bytes - frame.headerBytes
    ends.push({ at, time: decodeTime(frame) })
  }
  return { blocks, bytes: at, ends }
}

function copyPayload(sending: PesInProgress, target: Uint8Array, at: number, bytes: number): void {
  for (let left = bytes; left > 0;) {
    const block = sending.blocks[sending.blockIndex]!
    const part = Math.min(left, block.length - sending.offset)
    target.set(
      sending.offset === 0 && part === block.length ? block : block.subarray(sending.offset, sending.offset + part),
      at,
    )
    at += part
    left -= part
    sending.offset += part
    if (sending.offset < block.length) continue
    sending.blockIndex += 1
    sending.offset = 0
  }
}

const DATA_IDENTIFIER = 0x20
const SYNC = 0x0f
const PAGE_COMPOSITION = 0x10
const SEGMENT_HEADER_BYTES = 6
const TICKS_PER_SECOND = 90_000

/**
 * From a stream's units before the first frame, those of the page that is still shown then, with the frame's PTS:
 * players start at the lowest PTS, and would begin the file without video.
 */
export function shownAt(pts: number, earlier: readonly AccessUnit[]): AccessUnit[] {
  const last = Math.max(...earlier.map((unit) => unit.pts))
  // The segments of a display set have one PTS, whether or not they share a PES packet.
  const set = earlier.filter((unit) => unit.pts === last)
  return set.some((unit) => showsUntil(unit) > pts) ? set.map((unit) => restamped(unit, pts)) : []
}

/** When the unit's page disappears at the latest; −∞ where it clears the page or only changes the one before. */
function showsUntil({ pts, blocks, headerBytes }: AccessUnit): number {
  const bytes = concatBytes(blocks).subarray(headerBytes)
  if (bytes[0] !== DATA_IDENTIFIER) return -Infinity
  let until = -Infinity
  for (let at = 2; at + SEGMENT_HEADER_BYTES <= bytes.length && bytes[at] === SYNC;) {
    const from = at + SEGMENT_HEADER_BYTES
    const length = (bytes[at + 4]! << 8) | bytes[at + 5]!
    // page_time_out; page_state: 0 = normal case, which builds on the page before; regions.
    const isWhole = length > 2 && ((bytes[from + 1]! >> 2) & 3) !== 0
    if (bytes[at + 1] === PAGE_COMPOSITION && isWhole) until = Math.max(until, pts + bytes[from]! * TICKS_PER_SECOND)
    at = from + length
  }
  return until
}
