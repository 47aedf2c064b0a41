// In charge of: THE MULTIPLEX of a transport stream: which packet comes next, so that no buffer of a decoder overflows or runs dry
// (T-STD, ISO/IEC 13818-1, 2.4.2), with the clock where it is due, at a constant rate or at the lowest that will do.
// Not in charge of: taking the encoder's stream apart (units.ts), one stream's buffers (lane.ts), the packets (packets.ts).
import type { AudioCodec, VideoCodec } from '#contract/spec.ts'
import { codecStringOf } from '../facts/annexB.ts'
import { withCueStream } from '../mpegts/cue-stream.ts'
import { joined } from '../mpegts/joined.ts'
import type { Cue } from '../mpegts/scan.ts'
import { isVideo, writePmt, type ElementaryStream, type ProgramMap } from '../mpegts/tables.ts'
import { PACKET_BYTES } from '../mpegts/packet.ts'
import { SYSTEM_CLOCK } from './bucket.ts'
import { CueLane } from './cueLane.ts'
import { Lane, timeOf } from './lane.ts'
import { audioLimits, videoLimits, type TsProfile, type VideoLimits } from './limits.ts'
import { mpeg2Level } from './mpeg2.ts'
import { PacketWriter } from './packets.ts'
import { Repeats } from './repeats.ts'
import { PAT_PID, SDT_PID, writePat, writeSdt, type Service } from './tables.ts'
import { UnitReader, type Unit } from './units.ts'

export interface MultiplexOptions {
  /** Constant rate; null = variable. */
  rateKbps: number | null
  video: VideoLimits
  /** In the order of the encoder's streams. */
  audio: readonly { codec: AudioCodec; channels: number; bitrateKbps: number }[]
  profile: TsProfile | null
  service: Service
  mapPid: number
  videoPid: number
  /** Of the first track; the others follow. */
  audioPid: number
  cues: { pid: number; streamType: number; list: readonly Cue[] } | null
}

const MS = SYSTEM_CLOCK / 1000
/** ISO/IEC 13818-1 asks for a clock every 100 ms, TS 101 154 for 40 ms. Earlier where a packet goes there anyway. */
const CLOCK_LATEST = 38 * MS
const CLOCK_WANTED = 20 * MS
/** TR 101 290 asks for 500 ms, TS 101 154 advises 100 ms. */
const TABLE_MS = 80
/** EN 300 468, 5.1.4: 2 s. */
const SERVICE_MS = 1000
/** How long before its time a unit may come: 2.4.2.6 allows 1 s for all but H.264 and HEVC. */
const VIDEO_HOLD = 950 * MS
const AUDIO_HOLD = 400 * MS
/** The encoders' own buffer is that full when the first picture leaves it. */
const START_FULLNESS = 0.9
const SHORTEST_START = 200 * MS
/** Of a variable rate: it is constant for that long. */
const LONGEST_SPAN = 36 * MS
const SHORTEST_SPAN = 4 * MS
/** Bytes of PES headers and stuffing of an audio frame. */
const AUDIO_EXTRA_BYTES = 30
/** Media that must be there before a packet can be chosen. */
const AHEAD = VIDEO_HOLD + 2 * LONGEST_SPAN
const PACKET_TICKS_KBPS = PACKET_BYTES * 8 * 27_000
const HEAD_BYTES = 4096
const FRAME_SECONDS: Record<AudioCodec, number> = { aac: 1024 / 48_000, mp2: 1152 / 48_000, ac3: 1536 / 48_000 }

interface Running {
  lanes: Lane[]
  video: Lane
  repeats: Repeats
  cues: CueLane | null
  span: number
}

export class Multiplexer {
  readonly #options: MultiplexOptions
  readonly #reader = new UnitReader()
  readonly #out = new PacketWriter()
  readonly #early: Unit[] = []
  readonly #lanes = new Map<number, Lane>()
  #running: Running | null = null
  #ended = false
  /** Units are there up to this time. */
  #until = -Infinity
  #firstVideo: Unit | null = null
  /** The time of the next packet; of a constant rate: where it began, and packets since. */
  #now = 0
  #base = 0
  #slot = 0
  #clocked = -Infinity
  /** Of a variable rate: the part of a packet of pictures that is still to be sent. */
  #owed = 0
  #isIdle = false

  constructor(options: MultiplexOptions) {
    this.#options = options
  }

  /** Access units that came too late for their decoder: its encoder did not keep to the rate. */
  get late(): number {
    return [...this.#lanes.values()].reduce((sum, { late }) => sum + late, 0)
  }

  /** The bytes that are final now. */
  push(chunk: Uint8Array): Uint8Array[] {
    for (const unit of this.#reader.push(chunk)) this.#add(unit)
    this.#run()
    return this.#out.taken()
  }

  end(): Uint8Array[] {
    for (const unit of this.#reader.end()) this.#add(unit)
    this.#ended = true
    this.#run()
    return this.#out.taken()
  }

  #add(unit: Unit): void {
    this.#until = Math.max(this.#until, timeOf(unit))
    if (this.#running !== null) return void this.#lanes.get(unit.pid)?.add(unit)
    this.#early.push(unit)
    if (
      this.#firstVideo === null &&
      this.#reader.map!.streams.some((stream) => stream.pid === unit.pid && isVideo(stream))
    )
      this.#firstVideo = unit
  }

  #run(): void {
    if (this.#running === null) {
      if (this.#firstVideo === null || !this.#isKnown(timeOf(this.#firstVideo) + AHEAD)) return
      this.#running = this.#start(this.#reader.map!, this.#firstVideo)
    }
    const { lanes, cues } = this.#running
    const isConstant = this.#options.rateKbps !== null
    while (this.#isKnown(this.#now + AHEAD)) {
      if (this.#ended && lanes.every(({ isEmpty }) => isEmpty)) {
        // Cues that come after the end.
        for (let left = cues?.count(Infinity, Infinity) ?? 0; left > 0; left--) cues?.send(this.#out)
        return
      }
      if (isConstant) this.#slotOfConstant(this.#running)
      else this.#spanOfVariable(this.#running)
    }
  }

  #isKnown(time: number): boolean {
    return this.#ended || this.#until >= time
  }

  #start(map: ProgramMap, first: Unit): Running {
    const { video, audio, profile, service, mapPid, videoPid, audioPid, cues } = this.#options
    let track = 0
    const streams: ElementaryStream[] = []
    const lanes = map.streams.map((stream): Lane => {
      if (isVideo(stream)) {
        streams.push({ ...stream, pid: videoPid })
        const limits = videoLimits(video, levelOf(video.codec, stream.type, first))
        return new Lane({ pid: videoPid, kind: 'video', limits, hold: VIDEO_HOLD })
      }
      const sound = audio[track]!
      const pid = audioPid + track
      track += 1
      streams.push({ ...stream, pid })
      const limits = audioLimits(sound.codec, sound.channels, sound.bitrateKbps, profile)
      return new Lane({ pid, kind: 'audio', limits, hold: AUDIO_HOLD })
    })
    for (const [index, { pid }] of map.streams.entries()) this.#lanes.set(pid, lanes[index]!)
    for (const unit of this.#early.splice(0)) this.#lanes.get(unit.pid)?.add(unit)

    const filling = (START_FULLNESS * video.bufferBits * 27_000) / video.maxKbps
    const delay = Math.min(Math.max(filling, SHORTEST_START), VIDEO_HOLD)
    const firsts = lanes.flatMap(({ kind, next }) => (kind === 'audio' && next !== null ? [timeOf(next)] : []))
    // Whole ticks of 90 kHz, and a table or two before the first picture.
    this.#now = 300 * Math.floor(Math.min(timeOf(first) - delay, ...firsts.map((time) => time - SHORTEST_START)) / 300)
    this.#base = this.#now
    const own: ProgramMap = { ...map, program: service.id, clockPid: videoPid, streams }
    const declared = cues === null ? own : withCueStream(own, cues.pid, cues.streamType)
    const repeated = [
      { pid: PAT_PID, section: writePat(service, mapPid), everyMs: TABLE_MS },
      { pid: mapPid, section: writePmt(declared), everyMs: TABLE_MS },
      { pid: SDT_PID, section: writeSdt(service), everyMs: SERVICE_MS },
    ]
    const repeats = new Repeats(repeated, this.#now)
    // A receiver reads the tables before anything else.
    while (repeats.send(this.#out, this.#now)) if (this.#options.rateKbps !== null) this.#advance()
    this.#clocked = this.#now
    return {
      lanes,
      video: lanes.find(({ kind }) => kind === 'video')!,
      repeats,
      cues: cues === null ? null : new CueLane(cues.pid, cues.list, first.pts),
      span: spanOf(audio, lanes),
    }
  }

  #slotOfConstant(running: Running): void {
    const isLast = this.#following - this.#clocked > CLOCK_LATEST
    if (!this.#send(running, this.#now, isLast)) this.#out.stuffing()
    this.#advance()
  }

  /** When the packet behind the next one comes. */
  get #following(): number {
    return this.#base + Math.round(((this.#slot + 1) * PACKET_TICKS_KBPS) / this.#options.rateKbps!)
  }

  #advance(): void {
    this.#now = this.#following
    this.#slot += 1
    // That many packets last a whole number of ticks: sums stay small, and exact.
    if (this.#slot < this.#options.rateKbps!) return
    this.#slot = 0
    this.#base = this.#now
  }

  /** Equally spaced packets, as many as are wanted now, the first one with the clock: between two clocks the rate is constant (2.4.2.2). */
  #spanOfVariable(running: Running): void {
    const { lanes, video, repeats, cues, span } = running
    const now = this.#now
    let wanted = repeats.count(now + span) + (cues?.count(Math.floor(now / 300), upcoming(video)) ?? 0)
    for (const lane of lanes)
      wanted += lane.kind === 'video' ? this.#pictures(lane, now, span) : lane.room(now)
    this.#now += span
    // Only behind a clock alone: packets before it would be taken to be spread over the pause as well.
    if (wanted === 0 && this.#isIdle && now + span - this.#clocked <= CLOCK_LATEST) return
    this.#isIdle = wanted === 0
    const packets = wanted + (video.deadline(now) === null ? 1 : 0)
    for (let packet = 0; packet < packets; packet++) {
      const time = now + Math.floor((packet * span) / packets)
      if (!this.#send(running, time, packet === 0) && packet > 0) this.#out.stuffing()
    }
  }

  /** Packets of pictures for a span: no more than needed, so that there is one for every clock. */
  #pictures(video: Lane, now: number, span: number): number {
    this.#owed = Math.min(video.room(now), this.#owed + video.pace(now, span))
    const packets = Math.floor(this.#owed)
    this.#owed -= packets
    return packets
  }

  /** One packet at `now`; false where nothing may be sent. `clock`: it has to be one with the clock. */
  #send({ lanes, video, repeats, cues }: Running, now: number, clock: boolean): boolean {
    if (clock) return this.#sendClock(video, now)
    if (repeats.send(this.#out, now)) return true
    if (cues !== null && cues.count(Math.floor(now / 300), null) > 0) {
      cues.send(this.#out)
      return true
    }
    let chosen: Lane | null = null
    let earliest = Infinity
    for (const lane of lanes) {
      const deadline = lane.deadline(now)
      if (deadline === null || deadline >= earliest) continue
      chosen = lane
      earliest = deadline
    }
    if (chosen === null) return false
    if (chosen !== video) chosen.send(this.#out, now, null)
    else if (cues !== null && cues.count(-Infinity, upcoming(video)) > 0) cues.send(this.#out)
    else this.#sendPicture(video, now, now - this.#clocked >= CLOCK_WANTED || (video.begins && video.next!.isKey))
    return true
  }

  #sendClock(video: Lane, now: number): boolean {
    // Where cues stand before the next picture, it waits for them.
    const waits = video.begins && (this.#running?.cues?.count(-Infinity, upcoming(video)) ?? 0) > 0
    if (video.deadline(now) !== null && !waits) this.#sendPicture(video, now, true)
    else {
      this.#out.clock(video.pid, video.counter, now)
      this.#clocked = now
    }
    return true
  }

  #sendPicture(video: Lane, now: number, withClock: boolean): void {
    video.send(this.#out, now, withClock ? now : null)
    if (withClock) this.#clocked = now
  }
}

/** PTS of a picture that begins with the next packet of its stream. */
function upcoming(video: Lane): number | null {
  return video.begins ? (video.next?.pts ?? null) : null
}

/** So short that no audio buffer runs dry between two of them. */
function spanOf(audio: MultiplexOptions['audio'], lanes: readonly Lane[]): number {
  const sounds = lanes.filter(({ kind }) => kind === 'audio')
  const longest = audio.map(({ codec, bitrateKbps }, track) => {
    const frame = bitrateKbps * 125 * FRAME_SECONDS[codec] + AUDIO_EXTRA_BYTES
    const spare = sounds[track]!.limits.bufferBytes - frame - PACKET_BYTES
    return ((spare / frame) * FRAME_SECONDS[codec] * SYSTEM_CLOCK) / 1.5
  })
  return Math.floor(Math.max(SHORTEST_SPAN, Math.min(LONGEST_SPAN, ...longest)))
}

function levelOf(codec: VideoCodec, streamType: number, { pieces }: Unit): number | null {
  const head: Uint8Array[] = []
  for (let bytes = 0, at = 0; bytes < HEAD_BYTES && at < pieces.length; bytes += pieces[at]!.length, at++)
    head.push(pieces[at]!)
  const bytes = joined(head)
  if (codec === 'mpeg2') return mpeg2Level(bytes)
  const name = codecStringOf(streamType, bytes)
  if (name === null) return null
  return codec === 'h264' ? Number.parseInt(name.slice(-2), 16) : Number(/\.[LH](\d+)/.exec(name)?.[1] ?? NaN)
}
