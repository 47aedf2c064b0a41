// In charge of: AC-3 and E-AC-3 in bursts of data: taken out of the samples of the source into a file, once for an attempt,
// which every run then reads as one more input.
// Not in charge of: finding the streams (dataInAudio.ts), the bursts (formats/dataBursts.ts), reading the file
// (plan/argv/burstInputs.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { BurstPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { Attempt } from '../attempt.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { FIRST_PIPE_FD, runFfmpeg } from '../ffmpeg/run.ts'
import { readAc3Header, readSyncFrame } from '../formats/ac3.ts'
import { matroskaFrames, matroskaHeader } from '../formats/audioMatroska.ts'
import { BurstReader, type Burst } from '../formats/dataBursts.ts'
import { MOST_SHIFT_SECONDS } from '../plan/argv/filters.ts'
import { CLOCK_SECONDS } from '../plan/argv/steadyAudio.ts'
import type { AudioStream, MediaInfo } from '../plan/model/mediaInfo.ts'
import { DEEP_PROBE_FLAGS } from '../plan/streams/audioStreamCount.ts'
import { outputStartSeconds, usedAudioStreams } from '../plan/streams/outputTiming.ts'
import { keepData } from './dataInAudio.ts'
import { probe } from './probe.ts'

/** Of a burst, whatever the number of its blocks. */
const FRAME_SAMPLES = 1536
/** What a source may be longer than it states. Silence that fills a gap costs time only. */
const SPARE_SECONDS = 600
const UNKNOWN_SECONDS = 24 * 3600

type Place = Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>

/** What was taken out, as the members of the stream that it becomes. */
type Taken = Partial<AudioStream> & { file: string; otherSeconds: number }

export class BurstFiles {
  readonly #place: Place
  readonly #taken = new Map<number, Promise<Taken | null>>()

  constructor(place: Place) {
    this.#place = place
  }

  /**
   * The source with the audio of all bursts that the job uses and that can be read: the others stay data. Throws if the
   * source cannot be read.
   */
  async decode(spec: JobSpec, media: MediaInfo, deepProbe: boolean): Promise<MediaInfo> {
    const numbers = usedAudioStreams(spec)
    const wanted = media.other.flatMap(({ bursts }) =>
      bursts !== undefined && numbers.includes(bursts.samples.number) ? [bursts] : [],
    )
    // A jump would be filled with silence.
    if (wanted.length === 0 || media.clockJumps?.length) return media
    const samples = wanted.map((each) => each.samples)
    const restored = withAudio(media, samples)
    const begin = outputStartSeconds(spec, restored)
    const plans = wanted.map(({ samples: { number, sampleRate, startSeconds }, pads }): BurstPlan => ({
      stream: number,
      pads,
      sampleRate,
      startSeconds: (startSeconds ?? media.startSeconds ?? 0) - begin,
    }))
    const streams = await this.#streams(restored, plans, deepProbe)
    return withAudio(
      media,
      streams.filter(({ bursts }) => bursts !== undefined),
    )
  }

  /** The source with the audio that a stored plan has. */
  async follow(bursts: readonly BurstPlan[], media: MediaInfo, deepProbe: boolean): Promise<MediaInfo> {
    if (bursts.length === 0) return media
    const streams = await this.#streams(media, bursts, deepProbe)
    if (streams.filter(({ bursts: taken }) => taken !== undefined).length < bursts.length)
      throw new TaskError('source_damaged', 'The bursts of data in the audio of the source cannot be read again.')
    return withAudio(media, streams)
  }

  async #streams(media: MediaInfo, plans: readonly BurstPlan[], deepProbe: boolean): Promise<AudioStream[]> {
    const streams: AudioStream[] = []
    for (const plan of plans) {
      const stream = media.audio.find(({ number }) => number === plan.stream)
      if (stream === undefined) continue
      const taking = this.#taken.get(plan.stream) ?? this.#take(plan, stream, media, deepProbe)
      this.#taken.set(plan.stream, taking)
      const taken = await taking
      if (taken === null) {
        streams.push(stream)
        continue
      }
      const { file, otherSeconds, ...members } = taken
      streams.push({ ...stream, ...members, bursts: { ...plan, file, around: stream.codec, otherSeconds } })
    }
    return streams
  }

  /** Reads the whole source once. null = there are none, or they cannot be decoded. */
  async #take(plan: BurstPlan, stream: AudioStream, media: MediaInfo, deepProbe: boolean): Promise<Taken | null> {
    const { engine, loopback, workspace, controller } = this.#place
    const path = join(workspace.out, `bursts-${plan.stream}.mka`)
    const most = ((media.durationSeconds ?? UNKNOWN_SECONDS) + SPARE_SECONDS) * plan.sampleRate
    const reader = new BurstReader()
    await using file = await open(path, 'w', 0o640)
    let begun: Uint8Array | null = null
    let endSeconds = 0
    const write = async ({ at, bytes }: Burst): Promise<void> => {
      const frame = readSyncFrame(bytes)!
      if (begun === null) await file.write(matroskaHeader(frame.codec, frame.sampleRate))
      begun ??= bytes
      const seconds = at / plan.sampleRate
      endSeconds = seconds + FRAME_SAMPLES / frame.sampleRate
      await file.write(matroskaFrames(CLOCK_SECONDS + plan.startSeconds + seconds, bytes))
    }
    const result = await runFfmpeg(
      engine,
      [
        ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'level+warning', '-nostats', '-progress', 'pipe:1'],
        ...['-copyts', ...inputFlags(loopback.url), ...(deepProbe ? DEEP_PROBE_FLAGS : []), ...keepData([stream])],
        ...['-i', loopback.url],
        ...['-filter_complex', samplesGraph(plan.pads), '-map', '[samples]', '-c:a', 'pcm_s32le', '-f', 's32le'],
        `pipe:${FIRST_PIPE_FD}`,
      ],
      {
        cwd: workspace.cwd,
        purpose: 'read the data in the audio',
        signal: controller.signal,
        limits: { fileBytes: 0 },
        bytesRead: () => loopback.bytesServed,
        pipeReaders: [
          async (output) => {
            let pairs = 0
            for await (const samples of samplePairs(output)) {
              for (const burst of reader.push(samples)) await write(burst)
              pairs += samples.length / 2
              // ffmpeg ends with an error.
              if (pairs > most) break
            }
          },
        ],
      },
    )
    controller.signal.throwIfAborted()
    if (result.code !== 0 || begun === null) return null
    const probed = await probe(engine, `file:${path}`, { signal: controller.signal, cwd: workspace.cwd })
    const found = probed.audio[0]
    if (found === undefined) return null
    const { codec, channels, channelLayout, sampleRate, bitrateKbps } = found
    return {
      file: path,
      otherSeconds: reader.others / plan.sampleRate,
      ...{ codec, channels, channelLayout, sampleRate },
      ...(bitrateKbps === undefined ? {} : { bitrateKbps }),
      ...readAc3Header(begun),
      // It begins with the samples, and ends with the last burst.
      durationSeconds: endSeconds,
    }
  }
}

/** The streams are in `audio`, and neither they nor the other halves of their samples in `other`. */
function withAudio(media: MediaInfo, streams: readonly AudioStream[]): MediaInfo {
  const numbers = new Set(streams.map(({ number }) => number))
  const pads = new Set(streams.flatMap(({ bursts }) => bursts?.pads ?? []))
  return {
    ...media,
    audio: [...media.audio.filter(({ number }) => !numbers.has(number)), ...streams].toSorted(
      (a, b) => a.number - b.number,
    ),
    other: media.other.filter(
      ({ audioNumber, bursts }) => !numbers.has(audioNumber ?? 0) && !bursts?.pads.some((pad) => pads.has(pad)),
    ),
  }
}

/** Samples as they are, or as two tracks have them; what is missing is silent. */
function samplesGraph(pads: readonly string[]): string {
  const aligned = `aresample=async=1:min_hard_comp=${MOST_SHIFT_SECONDS}`
  if (pads.length === 1) return `[${pads[0]}]${aligned}[samples]`
  // Two tracks may have no layout.
  const chains = pads.map((pad, side) => `[${pad}]${aligned},aformat=channel_layouts=mono[side${side}]`)
  return [...chains, `${pads.map((_pad, side) => `[side${side}]`).join('')}amerge=inputs=${pads.length}[samples]`].join(
    ';',
  )
}

const PAIR_BYTES = 8

async function* samplePairs(stream: Readable): AsyncGenerator<Int32Array> {
  let rest = Buffer.alloc(0)
  for await (const block of stream) {
    const bytes = Buffer.concat([rest, block as Buffer])
    const whole = bytes.length - (bytes.length % PAIR_BYTES)
    rest = bytes.subarray(whole)
    yield Int32Array.from({ length: whole / 4 }, (_sample, at) => bytes.readInt32LE(4 * at))
  }
}
