// In charge of: listing the packets of a source's video for a copy: times, sizes, key frames, parameter sets. Nothing is
// decoded. The source is read once, unless its index says the same.
// Not in charge of: reading the index (surveyIndex.ts), what follows (plan/copy/).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { FIRST_PIPE_FD, runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { VideoSurvey } from '../plan/model/videoSurvey.ts'
import { videoCodecOfSource } from '../plan/codecs.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import { usedPids, videoSpecifier } from '../plan/streams/programSelection.ts'
import type { Timeline } from '../plan/planContext.ts'
import type { LoopbackServer } from '../source/loopbackServer.ts'
import { MAX_FRAMES, MAX_PARAMETER_SETS, NAL_UNIT_TYPES } from './nalUnitTypes.ts'
import { surveyIndex } from './surveyIndex.ts'

interface Options {
  cwd: string
  signal?: AbortSignal
  /** Reads bytes of the source; null = only all of them, in order. */
  ranges?: Pick<LoopbackServer, 'open' | 'readRange'> | null
}

/** null = the job copies no video, or the source could not be read. */
export async function surveyVideo(
  engine: Engine & FfmpegPrograms,
  url: string,
  { spec, media, timeline }: { spec: JobSpec; media: MediaInfo; timeline: Pick<Timeline, 'startSeconds'> },
  options: Options,
): Promise<VideoSurvey | null> {
  const { video } = media
  if (video === null || !spec.video.some(({ copy }) => copy) || videoCodecOfSource(video.codec) === null) return null
  // Without ffmpeg's own clock, which would start with the streams that this run reads.
  const { startSeconds } = timeline
  const { ranges = null, ...places } = options
  const hasIndex = media.formats.includes('mov') && (video.codec === 'h264' || video.codec === 'hevc')
  if (ranges !== null && hasIndex) {
    const found = await surveyIndex(ranges, startSeconds, options.signal ?? new AbortController().signal)
    if (found !== null) return found
  }
  const units = video.codec === 'h264' || video.codec === 'hevc' ? NAL_UNIT_TYPES[video.codec] : undefined
  const list = (pipe: number, filter: string[]): string[] => [
    ...['-map', videoSpecifier(usedPids(media)), '-c', 'copy', '-copyinkf', ...filter],
    ...['-f', 'framecrc', `pipe:${FIRST_PIPE_FD + pipe}`],
  ]
  const args = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'level+error', '-nostats', '-progress', 'pipe:1'],
    ...inputFlags(url),
    '-copyts',
    ...(needsDeepProbe(spec, media) ? DEEP_PROBE_FLAGS : []),
    ...['-i', url],
    ...list(0, []),
    ...(units === undefined
      ? []
      : [
          ...list(1, ['-bsf:v', `filter_units=pass_types=${units.idr.join('|')}`]),
          ...list(2, ['-bsf:v', `filter_units=pass_types=${units.parameters}`]),
        ]),
  ]
  const packets = new PacketList()
  const idr = new Set<number>()
  const parameters = new Set<string>()
  const collect = (take: (packet: Packet) => void) => (stream: Readable) => readPackets(stream, take)
  const readers = [
    collect((packet) => packets.push(packet)),
    ...(units === undefined
      ? []
      : [
          collect(({ decoded }) => void idr.add(decoded)),
          collect(({ checksum }) => void (parameters.size < MAX_PARAMETER_SETS && parameters.add(checksum))),
        ]),
  ]
  const { ended, code } = await runFfmpeg(engine, args, {
    ...places,
    purpose: 'list the frames of the source',
    pipeReaders: readers,
    limits: { cpuSeconds: 0 },
  })
  options.signal?.throwIfAborted()
  if (ended !== 'exit' || code !== 0 || packets.length === 0 || packets.length > MAX_FRAMES) return null
  return surveyOf(packets, { startSeconds, idr, parameters })
}

interface Packet {
  /** Ticks. */
  decoded: number
  shown: number
  duration: number
  bytes: number
  isKey: boolean
  checksum: string
  /** Seconds of one tick. */
  tick: number
}

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)/
/** `stream, dts, pts, duration, size, checksum`; then the flags, unless they are a key frame's. */
const PACKET = /^0, *(-?\d+), *(-?\d+), *(\d+), *(\d+), 0x([0-9a-f]{8})(?:, F=0x([0-9A-Fa-f]+))?/
const KEY_FLAG = 1

/** In decoding order; numbers only, because there may be millions. */
class PacketList {
  length = 0
  readonly decoded: number[] = []
  readonly times: number[] = []
  readonly sizes: number[] = []
  readonly keyFrames: number[] = []
  endSeconds = -Infinity

  push({ decoded, shown, duration, bytes, isKey, tick }: Packet): void {
    this.length += 1
    if (this.length > MAX_FRAMES) return
    if (isKey) this.keyFrames.push(this.decoded.length)
    this.decoded.push(decoded)
    this.times.push(shown * tick)
    this.sizes.push(bytes)
    this.endSeconds = Math.max(this.endSeconds, (shown + duration) * tick)
  }
}

async function readPackets(stream: Readable, take: (packet: Packet) => void): Promise<void> {
  let tick = 0
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
    const [, num, den] = TIME_BASE.exec(line) ?? []
    if (den !== undefined) tick = Number(num) / Number(den)
    const [, decoded, shown, duration, bytes, checksum = '', flags] = PACKET.exec(line) ?? []
    if (bytes === undefined) continue
    const isKey = flags === undefined || (Number.parseInt(flags, 16) & KEY_FLAG) !== 0
    const [dts, pts] = [Number(decoded), Number(shown)]
    take({ decoded: dts, shown: pts, duration: Number(duration), bytes: Number(bytes), isKey, checksum, tick })
  }
}

/** `idr`: the decoding times of IDR pictures. */
function surveyOf(
  { decoded, times, sizes, keyFrames, endSeconds }: PacketList,
  found: { startSeconds: number; idr: ReadonlySet<number>; parameters: ReadonlySet<string> },
): VideoSurvey {
  const back = decoded.findIndex((ticks, frame) => frame > 0 && ticks <= decoded[frame - 1]!)
  return {
    times: times.map((time) => time - found.startSeconds),
    sizes,
    keyFrames,
    closedKeyFrames: new Set(keyFrames.filter((frame) => found.idr.has(decoded[frame]!))),
    endSeconds: endSeconds - found.startSeconds,
    parameterSets: found.parameters.size,
    backwardsAt: back < 0 ? null : times[back]! - found.startSeconds,
  }
}
