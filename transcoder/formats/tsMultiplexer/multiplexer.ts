// In charge of: scheduling the packets of a transport stream so that no decoder buffer overflows or underflows (T-STD,
// ISO/IEC 13818-1, 2.4.2), with PCRs in time, at a constant rate or at the lowest sufficient one.
// Not in charge of: parsing the encoder's stream (accessUnitReader.ts), one stream's buffers (streamQueue.ts), the
// packets (packetWriter.ts).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { withCueStream } from '../scte35/cueStream.ts'
import { isVideo, type ElementaryStream, type ProgramMap } from '../mpegts/programTables.ts'
import { PACKET_BYTES } from '../mpegts/packet.ts'
import { SYSTEM_CLOCK_HZ, TICKS_PER_MS } from './leakyBucket.ts'
import { CueQueue } from './cueQueue.ts'
import { StreamQueue, decodeTime, shownAt } from './streamQueue.ts'
import { audioBufferLimits, dataBufferLimits, videoBufferLimits } from './bufferLimits.ts'
import type { MultiplexOptions } from './multiplexOptions.ts'
import { PacketWriter } from './packetWriter.ts'
import {
  allowsPeaks,
  codecLevel,
  FLOOR_SHARE,
  intervalFor,
  MAX_INTERVAL,
  MIN_START_DELAY,
  startDelay,
} from './pacing.ts'
import { repeatedTables } from './repeatedTables.ts'
import { TableRepeater, type RepeatedTable } from './tableRepeater.ts'
import { describeAudioStream, describeProgram, isTeletext, subtitleKind } from './streamDescriptors.ts'
import { AccessUnitReader, type AccessUnit } from './accessUnitReader.ts'

/**
 * ISO/IEC 13818-1 requires a PCR every 100 ms, TS 101 154 every 40 ms. Sent earlier where a video packet is sent
 * anyway.
 */
const PCR_MAX_INTERVAL = 38 * TICKS_PER_MS
const PCR_INTERVAL = 20 * TICKS_PER_MS
const MAX_AUDIO_LEAD = 400 * TICKS_PER_MS
/**
 * Many receivers show teletext 40 ms after its packet, whatever its PTS. A page of subtitles takes long at the rate of
 * its decoder.
 */
const MAX_DATA_LEAD = { teletext: 100 * TICKS_PER_MS, subtitles: 700 * TICKS_PER_MS }
/**
 * At the beginning, data waits for this many PES packets of each audio track: over HTTP, GStreamer's playbin3 hangs on
 * subtitles that come before its parser knows the audio, which takes three packets of MP2 (measured). Data waits at
 * most until DATA_LATEST before the first frame.
 */
const FIRST_PACKETS = 4
const DATA_LATEST = 250 * TICKS_PER_MS
/** Ticks between the tables before the first PCR, a whole number: no faster than their transport buffer drains. */
const LEAD_STEP = PACKET_BYTES * 8 * 27
/** Time before a deadline: below CRITICAL audio goes first; below URGENT it goes first in every other packet. */
const CRITICAL = 12 * TICKS_PER_MS
const URGENT = 40 * TICKS_PER_MS
/** Duration of media that must have arrived before a packet can be chosen. */
const LOOKAHEAD = 2000 * TICKS_PER_MS + 2 * MAX_INTERVAL
const PACKET_TICKS_KBPS = PACKET_BYTES * 8 * 27_000

interface MultiplexState {
  queues: StreamQueue[]
  video: StreamQueue
  repeats: TableRepeater
  cues: CueQueue | null
  interval: number
  /** Variable rate only: the least number of video packets per interval while video is waiting. */
  minVideoPackets: number
}

export class Multiplexer {
  readonly #options: MultiplexOptions
  readonly #reader = new AccessUnitReader()
  readonly #out = new PacketWriter()
  readonly #pending: AccessUnit[] = []
  readonly #queues = new Map<number, StreamQueue>()
  #running: MultiplexState | null = null
  #ended = false
  /** Access units have arrived up to this time. */
  #until = -Infinity
  #firstVideo: AccessUnit | null = null
  /** The time of the next packet. Constant rate: `#base` plus `#slot` packets. */
  #now = 0
  #base = 0
  #slot = 0
  #lastPcr = -Infinity
  /** Variable rate only: the fraction of a video packet that is carried over to the next interval. */
  #videoCredit = 0
  #isIdle = false
  /** Remaining video packets of this interval. */
  #videoQuota = Infinity
  #wasAudio = false
  /** Enough of each audio track was sent for data to follow, or the time limit has passed. */
  #hasAudio = false
  #dataBy = Infinity

  constructor(options: MultiplexOptions) {
    this.#options = options
  }

  /** Access units that arrived too late for their decoder, because the encoder exceeded its rate. */
  get lateUnits(): number {
    return [...this.#queues.values()].reduce((sum, { kind, lateUnits }) => sum + (kind === 'data' ? 0 : lateUnits), 0)
  }

  /** The bytes that are now final, in blocks: at a constant rate a pause in the stream may be long. */
  *push(block: Uint8Array): Generator<Uint8Array> {
    for (const unit of this.#reader.push(block)) this.#add(unit)
    yield* this.#run()
  }

  *end(): Generator<Uint8Array> {
    for (const unit of this.#reader.end()) this.#add(unit)
    this.#ended = true
    yield* this.#run()
  }

  #add(unit: AccessUnit): void {
    this.#until = Math.max(this.#until, decodeTime(unit))
    if (this.#running !== null) {
      const queue = this.#queues.get(unit.pid)
      if (queue?.kind !== 'data' || unit.pts >= this.#firstVideo!.pts) queue?.add(unit)
      return
    }
    this.#pending.push(unit)
    if (
      this.#firstVideo === null &&
      this.#reader.map!.streams.some((stream) => stream.pid === unit.pid && isVideo(stream))
    )
      this.#firstVideo = unit
  }

  *#run(): Generator<Uint8Array> {
    if (this.#running === null) {
      if (this.#firstVideo === null || !this.#isKnown(decodeTime(this.#firstVideo) + LOOKAHEAD)) return
      this.#running = this.#start(this.#reader.map!, this.#firstVideo)
    }
    const { queues, cues } = this.#running
    const isConstant = this.#options.rateKbps !== null
    while (this.#isKnown(this.#now + LOOKAHEAD)) {
      if (this.#ended && queues.every(({ isEmpty }) => isEmpty)) {
        // Cues after the end.
        for (let left = cues?.count(Infinity, Infinity) ?? 0; left > 0; left--) cues?.send(this.#out)
        // Without this PCR, the packets of the last interval would be timed at the rate of the one before, which may be
        // far lower.
        if (!isConstant) this.#out.writePcr(this.#running.video.pid, this.#running.video.counter, this.#now)
        break
      }
      if (isConstant) this.#runConstantSlot(this.#running)
      else this.#runVariableInterval(this.#running)
      if (this.#out.isFull) yield* this.#out.takeBlocks()
    }
    yield* this.#out.takeBlocks()
  }

  #isKnown(time: number): boolean {
    return this.#ended || this.#until >= time
  }

  #start(map: ProgramMap, first: AccessUnit): MultiplexState {
    const { video, audio, profile, service, videoPid, audioPid, cues } = this.#options
    const limits = videoBufferLimits(video, codecLevel(video.codec, first))
    const delay = startDelay(this.#options, limits)
    let track = 0
    const streams: ElementaryStream[] = []
    const queues = map.streams.map((stream): StreamQueue => {
      if (isVideo(stream)) {
        streams.push({ ...stream, pid: videoPid })
        return new StreamQueue({ pid: videoPid, kind: 'video', limits, maxLead: delay })
      }
      const audioFormat = audio[track]
      const pid = audioPid + track
      track += 1
      if (audioFormat === undefined) {
        streams.push({ ...stream, pid })
        const kind = subtitleKind(stream)
        return new StreamQueue({ pid, kind: 'data', limits: dataBufferLimits(kind), maxLead: MAX_DATA_LEAD[kind] })
      }
      streams.push(describeAudioStream({ ...stream, pid }, audioFormat, profile))
      const own = audioBufferLimits(audioFormat.codec, audioFormat.channels, profile)
      return new StreamQueue({ pid, kind: 'audio', limits: own, maxLead: MAX_AUDIO_LEAD })
    })
    for (const [index, { pid }] of map.streams.entries()) this.#queues.set(pid, queues[index]!)
    const audioPids = new Set(queues.flatMap(({ kind }, at) => (kind === 'audio' ? [map.streams[at]!.pid] : [])))
    const firsts = this.#pending.filter(({ pid }) => audioPids.has(pid)).map(decodeTime)
    // Whole 90 kHz ticks, early enough for the tables before the first frame.
    this.#now =
      300 * Math.floor(Math.min(decodeTime(first) - delay, ...firsts.map((time) => time - MIN_START_DELAY)) / 300)
    this.#base = this.#now
    this.#dataBy = decodeTime(first) - DATA_LATEST
    for (const unit of this.#begun(map, first)) this.#queues.get(unit.pid)?.add(unit)
    const own = describeProgram({ ...map, program: service.id, clockPid: videoPid, streams }, profile)
    const declared = cues === null ? own : withCueStream(own, cues.pid, cues.streamType)
    const tables = repeatedTables(this.#options, declared)
    const interval = intervalFor(audio, queues)
    const videoQueue = queues.find(({ kind }) => kind === 'video')!
    // A receiver needs the tables first.
    const repeats = this.#options.rateKbps === null ? this.#leadIn(tables, videoQueue) : this.#firstSlots(tables)
    return {
      queues,
      video: videoQueue,
      repeats,
      cues: cues === null ? null : new CueQueue(cues.pid, cues.list, first.pts),
      interval,
      // Without peaks, missing packets cannot be sent later.
      minVideoPackets: allowsPeaks(this.#options, limits)
        ? 0
        : (video.maxKbps * 1000 * FLOOR_SHARE * interval) / SYSTEM_CLOCK_HZ / (8 * 184),
    }
  }

  /**
   * Units that arrived before the multiplex began. Teletext and subtitles never start before the first frame
   * (streamQueue.ts).
   */
  #begun(map: ProgramMap, { pts }: AccessUnit): AccessUnit[] {
    const units = this.#pending.splice(0)
    const isEarly = (unit: AccessUnit): boolean => this.#queues.get(unit.pid)?.kind === 'data' && unit.pts < pts
    const kept = units.filter((unit) => !isEarly(unit))
    const earlier = Map.groupBy(units.filter(isEarly), ({ pid }) => pid)
    const subtitles = map.streams.filter((stream) => !isTeletext(stream))
    return [...subtitles.flatMap(({ pid }) => shownAt(pts, earlier.get(pid) ?? [])), ...kept]
  }

  #firstSlots(tables: readonly RepeatedTable[]): TableRepeater {
    const repeats = new TableRepeater(tables, this.#now)
    while (repeats.send(this.#out, this.#now)) this.#advance()
    this.#lastPcr = this.#now
    return repeats
  }

  /**
   * Tables and a PCR before the first interval, evenly spaced up to its own PCR. Receivers time bytes before the first
   * PCR at the rate from there to the next one. Directly before an interval of few packets, the tables would seem to
   * have come much earlier.
   */
  #leadIn(tables: readonly RepeatedTable[], video: StreamQueue): TableRepeater {
    const packets = new TableRepeater(tables, this.#now).count(this.#now)
    let time = this.#now - (packets + 1) * LEAD_STEP
    const repeats = new TableRepeater(tables, time)
    for (; repeats.send(this.#out, time); time += LEAD_STEP);
    this.#out.writePcr(video.pid, video.counter, time)
    this.#lastPcr = time
    return repeats
  }

  #runConstantSlot(running: MultiplexState): void {
    const isLast = this.#nextPcrDue - this.#lastPcr > PCR_MAX_INTERVAL
    if (!this.#send(running, this.#now, isLast)) this.#out.writeNull()
    this.#advance()
  }

  /** The time of the packet after the next one. */
  get #nextPcrDue(): number {
    return this.#base + Math.round(((this.#slot + 1) * PACKET_TICKS_KBPS) / this.#options.rateKbps!)
  }

  #advance(): void {
    this.#now = this.#nextPcrDue
    this.#slot += 1
    // rateKbps packets last a whole number of ticks: restarting here keeps the sums small and exact.
    if (this.#slot < this.#options.rateKbps!) return
    this.#slot = 0
    this.#base = this.#now
  }

  /**
   * Sends the packets that are due now, evenly spaced, the first one with a PCR: between two PCRs the rate is constant
   * (2.4.2.2).
   */
  #runVariableInterval(running: MultiplexState): void {
    const { queues, video, repeats, cues, interval } = running
    const now = this.#now
    let wanted = repeats.count(now + interval) + (cues?.count(Math.floor(now / 300), nextFramePts(video)) ?? 0)
    for (const queue of queues) if (queue !== video) wanted += queue.packetsThatFit(now)
    const videoPackets = this.#videoPackets(video, now, interval)
    wanted += videoPackets
    this.#now += interval
    // Only after an interval with nothing but a PCR: otherwise the packets before the pause would count as spread over
    // it.
    if (wanted === 0 && this.#isIdle && now + interval - this.#lastPcr <= PCR_MAX_INTERVAL) return
    this.#isIdle = wanted === 0
    // The first packet carries the PCR, with or without video.
    const hasFrame = video.deadline(now) !== null
    this.#videoQuota = videoPackets
    const packets = wanted + (hasFrame && videoPackets > 0 ? 0 : 1)
    for (let packet = 0; packet < packets; packet++) {
      const time = now + Math.floor((packet * interval) / packets)
      if (!this.#send(running, time, packet === 0, now + interval) && packet > 0) this.#out.writeNull()
    }
    // Packets that did not fit into the transport buffer are sent later. Packets beyond the quota are not subtracted
    // from the next interval: they would be counted twice, and frames would come late.
    this.#videoCredit = Math.max(0, this.#videoCredit + this.#videoQuota)
  }

  /** Video packets for an interval: no more than needed, so that some are left to carry each PCR. */
  #videoPackets(video: StreamQueue, now: number, interval: number): number {
    this.#videoCredit = Math.min(
      video.packetsThatFit(now),
      this.#videoCredit + Math.max(video.requiredPackets(now, interval), this.#running!.minVideoPackets),
    )
    const packets = Math.max(0, Math.floor(this.#videoCredit))
    this.#videoCredit -= packets
    return packets
  }

  /** Sends one packet at `now`; false where none may be sent. `clock`: the packet must carry a PCR. */
  #send({ queues, video, repeats, cues }: MultiplexState, now: number, clock: boolean, until = now): boolean {
    if (clock) return this.#sendPcr(video, now)
    if (repeats.send(this.#out, now, until)) return true
    if (cues !== null && cues.count(Math.floor(now / 300), null) > 0) {
      cues.send(this.#out)
      return true
    }
    const chosen = this.#chooseQueue(queues, video, now)
    if (chosen === null) return false
    this.#wasAudio = chosen !== video
    if (chosen !== video) chosen.send(this.#out, now, null)
    else if (cues !== null && cues.count(-Infinity, nextFramePts(video)) > 0) cues.send(this.#out)
    else
      this.#sendVideo(video, now, now - this.#lastPcr >= PCR_INTERVAL || (video.isAtPesStart && video.nextUnit!.isKey))
    return true
  }

  /**
   * Video goes first whenever its transport buffer has room: the buffer drains hardly faster than frames are consumed,
   * and a series of audio packets would cost time that cannot be made up. Audio is sent in between, and first only
   * where it is urgent.
   */
  #chooseQueue(queues: readonly StreamQueue[], video: StreamQueue, now: number): StreamQueue | null {
    const isDataDue = this.#isDataDue(queues, now)
    const others = queues.filter((queue) => queue !== video && (queue.kind !== 'data' || isDataDue))
    return (
      earliestDeadline(others, now, now + CRITICAL) ??
      (this.#wasAudio ? null : earliestDeadline(others, now, now + URGENT)) ??
      (this.#videoQuota <= 0 || video.deadline(now) === null ? null : video) ??
      earliestDeadline(others, now) ??
      (video.deadline(now) === null ? null : video)
    )
  }

  #isDataDue(queues: readonly StreamQueue[], now: number): boolean {
    this.#hasAudio ||=
      now >= this.#dataBy || queues.every(({ kind, sentPackets }) => kind !== 'audio' || sentPackets >= FIRST_PACKETS)
    return this.#hasAudio
  }

  #sendPcr(video: StreamQueue, now: number): boolean {
    // If cues are due before the next frame, the frame waits for them.
    const waits = video.isAtPesStart && (this.#running?.cues?.count(-Infinity, nextFramePts(video)) ?? 0) > 0
    if (video.deadline(now) !== null && !waits) this.#sendVideo(video, now, true)
    else {
      this.#out.writePcr(video.pid, video.counter, now)
      this.#lastPcr = now
    }
    return true
  }

  #sendVideo(video: StreamQueue, now: number, withClock: boolean): void {
    this.#videoQuota -= 1
    video.send(this.#out, now, withClock ? now : null)
    if (withClock) this.#lastPcr = now
  }
}

/** The queue whose next packet has the earliest deadline, before `limit`; null where none may send. */
function earliestDeadline(queues: readonly StreamQueue[], now: number, limit = Infinity): StreamQueue | null {
  let chosen: StreamQueue | null = null
  let soonest = limit
  for (const queue of queues) {
    const deadline = queue.deadline(now)
    if (deadline === null || deadline >= soonest) continue
    chosen = queue
    soonest = deadline
  }
  return chosen
}

/** PTS of the frame that begins with the next video packet; null where none begins. */
function nextFramePts(video: StreamQueue): number | null {
  return video.isAtPesStart ? (video.nextUnit?.pts ?? null) : null
}
