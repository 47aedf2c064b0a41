// In charge of: checking a transport stream against the decoder model of ISO/IEC 13818-1, 2.4.2 (T-STD), and the
// repetition rates of ETSI TS 101 154 and TR 101 290. It shares no code with the multiplexer: headers are parsed here
// from the bytes.
// Not in charge of: the video content.
import { audioFrames } from './tstdAudio.ts'
import { videoBufferModel } from './tstdVideo.ts'

const CLOCK = 27_000_000
const PACKET = 188

export interface TstdReport {
  /** Sentences, the first few of each kind. */
  problems: string[]
  /** Longest intervals in ms. */
  clockMs: number
  patMs: number
  pmtMs: number
  sdtMs: number
  /** Bitrates between two clock references, in kbps. */
  kbps: number[]
  /** Peak fill of the buffer that the standard bounds, by PID, in bytes. */
  fullest: Map<number, number>
}

interface Arrival {
  /** Position of the packet. */
  index: number
  payload: Buffer
  begins: boolean
}

export interface StreamModel {
  transportBytes: number
  transportRate: number
  /** Audio: B. Video: MB. */
  bufferBytes: number
  /** Video: the rate at which MB is emptied, and the size of EB. */
  leak?: { rate: number; bytes: number }
  longestSeconds: number
}

export interface AccessUnitTime {
  /** Ticks of 90 kHz. */
  decoded: number
  /** End of the unit in bytes of the PID's payload. */
  end: number
}

class Problems {
  readonly list: string[] = []
  readonly #counts = new Map<string, number>()

  add(kind: string, text: string): void {
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    if (count <= 3) this.list.push(`${kind}: ${text}`)
  }
}

export function checkTstd(bytes: Buffer, profile: 'dvb' | 'atsc' | null = null): TstdReport {
  const problems = new Problems()
  const clocks: { index: number; ticks: number }[] = []
  const counters = new Map<number, number>()
  const streams = new Map<number, { type: number; descriptors: Buffer; arrivals: Arrival[] }>()
  const tables = new Map<number, number[]>([
    [0, []],
    [0x11, []],
  ])
  let mapPid = -1
  let clockPid = -1
  const count = Math.floor(bytes.length / PACKET)
  for (let index = 0; index < count; index++) {
    const packet = bytes.subarray(index * PACKET, (index + 1) * PACKET)
    if (packet[0] !== 0x47) {
      problems.add('sync', `packet ${index}`)
      continue
    }
    const pid = packet.readUInt16BE(1) & 0x1fff
    if (pid === 0x1fff) continue
    const control = packet[3]!
    const hasPayload = (control & 0x10) !== 0
    const last = counters.get(pid)
    if (last !== undefined && (control & 15) !== (hasPayload ? (last + 1) & 15 : last))
      problems.add('continuity', `PID ${pid}, packet ${index}`)
    counters.set(pid, control & 15)
    const field = (control & 0x20) === 0 ? 0 : packet[4]! + 1
    if (pid === clockPid && field > 7 && (packet[5]! & 0x10) !== 0) {
      const base = packet.readUInt32BE(6) * 2 + (packet[10]! >> 7)
      clocks.push({ index, ticks: base * 300 + (((packet[10]! & 1) << 8) | packet[11]!) })
    }
    if (!hasPayload) continue
    const payload = packet.subarray(4 + field)
    const begins = (packet[1]! & 0x40) !== 0
    tables.get(pid)?.push(...(begins ? [index] : []))
    if (pid === 0 && begins && mapPid === -1) {
      mapPid = payload.readUInt16BE(1 + 10) & 0x1fff
      tables.set(mapPid, [])
    }
    if (pid === mapPid && begins && clockPid === -1) {
      const section = payload.subarray(1)
      clockPid = section.readUInt16BE(8) & 0x1fff
      const end = 3 + (section.readUInt16BE(1) & 0xfff) - 4
      for (let at = 12 + (section.readUInt16BE(10) & 0xfff); at + 5 <= end;) {
        const length = section.readUInt16BE(at + 3) & 0xfff
        const own = { type: section[at]!, descriptors: section.subarray(at + 5, at + 5 + length), arrivals: [] }
        streams.set(section.readUInt16BE(at + 1) & 0x1fff, own)
        at += 5 + length
      }
    }
    streams.get(pid)?.arrivals.push({ index, payload, begins })
  }

  const timeAt = timeline(clocks)
  const gaps = clocks.slice(1).map(({ ticks }, at) => ticks - clocks[at]!.ticks)
  for (const [at, gap] of gaps.entries())
    if (gap > 0.04 * CLOCK || gap <= 0)
      problems.add('clock', `${((gap / CLOCK) * 1000).toFixed(1)} ms at packet ${clocks[at]!.index}`)
  const distance = (pid: number): number => {
    const times = [...(tables.get(pid) ?? []).map(timeAt), timeAt(count - 1)]
    return Math.max(...times.slice(1).map((time, at) => time - times[at]!), 0) / (CLOCK / 1000)
  }
  const [patMs, pmtMs, sdtMs] = [distance(0), distance(mapPid), distance(0x11)]
  if (patMs > 100) problems.add('PAT', `${patMs.toFixed(0)} ms apart`)
  if (pmtMs > 100) problems.add('PMT', `${pmtMs.toFixed(0)} ms apart`)
  if (profile !== 'atsc' && (sdtMs > 2000 || (tables.get(0x11) ?? []).length === 0))
    problems.add('SDT', `${sdtMs.toFixed(0)} ms apart`)

  const system = [...(tables.get(0) ?? []), ...(tables.get(mapPid) ?? [])].toSorted((a, b) => a - b)
  drain(system.map(timeAt), { bytes: 512, rate: 1_000_000 }, (time) =>
    problems.add('tables', `overflow at ${seconds(time)}`),
  )
  const fullest = new Map<number, number>()
  for (const [pid, stream] of streams) {
    const found = modelOf(stream, profile)
    if (found === null) continue
    fullest.set(pid, simulate(pid, stream.arrivals, found, timeAt, problems))
  }
  const kbps = gaps.map((gap, at) => ((clocks[at + 1]!.index - clocks[at]!.index) * PACKET * 8 * 27_000) / gap)
  return { problems: problems.list, clockMs: (Math.max(...gaps) / CLOCK) * 1000, patMs, pmtMs, sdtMs, kbps, fullest }
}

function seconds(ticks: number): string {
  return `${(ticks / CLOCK).toFixed(3)} s`
}

/**
 * 2.4.2.2: between two clock references the rate is constant; before the first and after the last it continues
 * unchanged.
 */
function timeline(clocks: readonly { index: number; ticks: number }[]): (index: number) => number {
  let at = 0
  return (index) => {
    if (clocks.length < 2) throw new Error('fewer than two clock references')
    while (at > 0 && clocks[at]!.index > index) at = Math.max(0, at - 64)
    while (at + 2 < clocks.length && clocks[at + 1]!.index <= index) at += 1
    const [from, to] = [clocks[at]!, clocks[at + 1]!]
    return from.ticks + ((index - from.index) * (to.ticks - from.ticks)) / (to.index - from.index)
  }
}

/** When each packet has left a leaky buffer; calls back on an overflow. */
function drain(
  times: readonly number[],
  { bytes, rate }: { bytes: number; rate: number },
  onOverflow: (time: number) => void,
): number[] {
  const step = (PACKET * 8 * CLOCK) / rate
  let free = -Infinity
  return times.map((time) => {
    const before = (Math.max(0, free - time) / step) * PACKET
    if (before + PACKET > bytes + 0.5) onOverflow(time)
    free = Math.max(free, time) + step
    return free
  })
}

interface Stream {
  type: number
  descriptors: Buffer
  arrivals: Arrival[]
}

function modelOf(
  stream: Stream,
  profile: 'dvb' | 'atsc' | null,
): { model: StreamModel; units: AccessUnitTime[] } | null {
  const pes = packetsOf(stream.arrivals)
  if (pes.length === 0) return null
  const tags = new Set<number>()
  for (let at = 0; at + 2 <= stream.descriptors.length; at += 2 + stream.descriptors[at + 1]!)
    tags.add(stream.descriptors[at]!)
  if ([0x02, 0x1b, 0x24].includes(stream.type)) {
    const units = pes.map(({ decoded, end }) => ({ decoded, end }))
    return { model: videoBufferModel(stream.type, pes[0]!.media), units }
  }
  const isAc3 = stream.type === 0x81 || (stream.type === 0x06 && tags.has(0x6a))
  const kind = isAc3
    ? 'ac3'
    : stream.type === 0x0f
      ? 'aac'
      : stream.type === 0x03 || stream.type === 0x04
        ? 'mpeg'
        : null
  if (kind !== null) {
    const read = pes.map((packet) => ({ packet, frames: audioFrames(kind, packet.media) }))
    const channels = read[0]!.frames[0]?.channels ?? 2
    const units = read.flatMap(({ packet, frames }) =>
      frames.map(({ end, ticks }) => ({
        decoded: packet.decoded + ticks,
        end: packet.end - packet.media.length + end,
      })),
    )
    const wide = kind === 'aac' && channels > 2
    const bufferBytes = isAc3 ? (profile === 'dvb' ? 5696 : 2592) : wide ? 8976 : 3584
    const model = { transportBytes: 512, transportRate: wide ? 5_529_600 : 2_000_000, bufferBytes, longestSeconds: 1 }
    return { model, units }
  }
  if (stream.type !== 0x06) return null
  const units = pes.map(({ decoded, end }) => ({ decoded, end }))
  if (tags.has(0x56))
    return { model: { transportBytes: 480, transportRate: 6_750_000, bufferBytes: 65_536, longestSeconds: 1 }, units }
  return { model: { transportBytes: 512, transportRate: 192_000, bufferBytes: 65_536, longestSeconds: 1 }, units }
}

interface Pes {
  decoded: number
  media: Buffer
  /** In bytes of the PID's payload. */
  end: number
}

function packetsOf(arrivals: readonly Arrival[]): Pes[] {
  const found: Pes[] = []
  let parts: Buffer[] = []
  let end = 0
  const close = (): void => {
    const whole = Buffer.concat(parts)
    if (whole.length < 14 || whole.readUIntBE(0, 3) !== 1) return
    const flags = whole[7]! >> 6
    const stamp = (at: number): number =>
      ((whole[at]! >> 1) & 7) * 2 ** 30 +
      (whole.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
      (whole.readUInt16BE(at + 3) >> 1)
    if (flags >= 2) found.push({ decoded: stamp(flags === 3 ? 14 : 9), media: whole.subarray(9 + whole[8]!), end })
  }
  for (const { payload, begins } of arrivals) {
    if (begins) {
      if (parts.length > 0) close()
      parts = []
    }
    parts.push(payload)
    end += payload.length
  }
  if (parts.length > 0) close()
  return found
}

/** Returns the peak fill of the buffer that the standard bounds: B of audio, EB of video. */
function simulate(
  pid: number,
  arrivals: readonly Arrival[],
  { model, units }: { model: StreamModel; units: readonly AccessUnitTime[] },
  timeAt: (index: number) => number,
  problems: Problems,
): number {
  const times = arrivals.map(({ index }) => timeAt(index))
  const left = drain(times, { bytes: model.transportBytes, rate: model.transportRate }, (time) =>
    problems.add('TB', `PID ${pid} overflows at ${seconds(time)}`),
  )
  const removals = units.map(({ decoded, end }) => ({ time: decoded * 300, end }))
  let removed = 0
  let removedBytes = 0
  const remove = (until: number): void => {
    while (removed < removals.length && removals[removed]!.time <= until) {
      removedBytes = removals[removed]!.end
      removed += 1
    }
  }
  let bytes = 0
  let most = 0
  let unit = 0
  let free = -Infinity
  const waiting: { until: number; bytes: number }[] = []
  let held = 0
  for (const [at, { payload }] of arrivals.entries()) {
    let time = left[at]!
    if (model.leak !== undefined) {
      while (waiting.length > 0 && waiting[0]!.until <= time) held -= waiting.shift()!.bytes
      held += payload.length
      if (held > model.bufferBytes)
        problems.add('MB', `PID ${pid} holds ${held} of ${Math.floor(model.bufferBytes)} bytes at ${seconds(time)}`)
      time = Math.max(time, free)
      // EB is full: what follows waits until the next picture is removed.
      remove(time)
      while (bytes + payload.length - removedBytes > model.leak.bytes && removed < removals.length) {
        time = Math.max(time, removals[removed]!.time)
        remove(time)
      }
      time += (payload.length * 8 * CLOCK) / model.leak.rate
      free = time
      waiting.push({ until: time, bytes: payload.length })
    }
    remove(time)
    bytes += payload.length
    const full = bytes - Math.min(bytes, removedBytes)
    most = Math.max(most, full)
    if (model.leak === undefined && full > model.bufferBytes)
      problems.add('B', `PID ${pid} holds ${full} of ${model.bufferBytes} bytes at ${seconds(time)}`)
    for (; unit < units.length && units[unit]!.end <= bytes; unit++) {
      const due = units[unit]!.decoded * 300
      if (time > due)
        problems.add('late', `PID ${pid}: ${(((time - due) / CLOCK) * 1000).toFixed(1)} ms after ${seconds(due)}`)
      if (due - times[at]! > model.longestSeconds * CLOCK)
        problems.add('delay', `PID ${pid}: a unit waits ${seconds(due - times[at]!)}`)
    }
  }
  return most
}
