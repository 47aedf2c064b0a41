// In charge of: one job with a cue at a given frame, in each output format, and the distance between the cues and their
// frames in the outputs.
// Not in charge of: which frames (main.ts, cueTiming.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { insertCaptions } from '../../support/captions/captionedClip.ts'
import { TS_ORIGIN_TICKS } from '../../../transcoder/plan/forms.ts'
import { readSplice } from '../../../transcoder/formats/scte35/spliceInfo.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { ffmpeg, readPackets } from '../../support/media/media.ts'
import { cueAtSeconds, readCues, insertCues } from '../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../support/mpegts/spliceSections.ts'
import { FakeTaskApi } from '../../support/transcoder/fakeTaskApi.ts'
import { storedObjects, joinedSegments, segmentedTask } from '../../support/transcoder/segmentedTask.ts'
import {
  describeTask,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../support/transcoder/attemptFixture.ts'

export const FORMS = ['HLS-TS', 'HLS-CMAF', 'DASH', 'ts'] as const
type Form = (typeof FORMS)[number]

export interface CueTimingCase {
  form: Form
  mode: 'vbr' | 'cbr'
  captions: boolean
  /**
   * Frame at which the timed cue splices, counted from the first one. The immediate cue is `AT_ONCE` frames after it.
   */
  frame: number
}

export interface CueTimingResult extends CueTimingCase {
  /** Empty = every cue is in the output, none farther than a frame from its position. */
  faults: string[]
  /** Largest distance between a cue's arrival and its position, in frames. */
  late: number
}

export const RATE = 25
/** Frames of a GOP; the sweep covers two GOPs. */
export const GOP = 25
const FRAMES = 90
/** Number of frames between the arrival of the timed cue and its splice. */
const NOTICE = 10
const AT_ONCE = 7
const TICKS_PER_FRAME = 90_000 / RATE
const [TIMED, NOW] = [501, 502]
/** Half a tick of each clock through which a time was converted. */
const ROUNDING = 1 / 1000

export const allCases = (frames: readonly number[]): CueTimingCase[] =>
  FORMS.flatMap((form) =>
    (['vbr', 'cbr'] as const).flatMap((mode) =>
      [true, false].flatMap((captions) => frames.map((frame) => ({ form, mode, captions, frame }))),
    ),
  )

export class CueTimingTest {
  readonly #bench: AttemptFixture
  readonly #plain: Buffer
  #made = 0

  private constructor(bench: AttemptFixture, plain: Buffer) {
    this.#bench = bench
    this.#plain = plain
  }

  static async open(): Promise<CueTimingTest> {
    const fixtures = await openAttemptFixture()
    const path = (name: string) => join(fixtures.directory, name)
    const encoder = '-c:v libx264 -preset ultrafast -bf 0 -g 25 -x264-params slices=1 -threads 1 -pix_fmt yuv420p'
    const picture = `testsrc2=s=160x90:r=${RATE}:d=${FRAMES / RATE}`
    await ffmpeg(['-f', 'lavfi', '-i', picture, ...encoder.split(' '), path('bare.h264')])
    await writeFile(path('captioned.h264'), insertCaptions(await readFile(path('bare.h264')), 'SWEEP', 15))
    await ffmpeg([
      ...['-r', String(RATE), '-f', 'h264', '-i', path('captioned.h264')],
      ...['-f', 'lavfi', '-i', `sine=f=440:r=48000:d=${FRAMES / RATE}`],
      ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'mp2', '-b:a', '96k', path('plain.ts')],
    ])
    return new CueTimingTest(fixtures, await readFile(path('plain.ts')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bench.remove()
  }

  async run(one: CueTimingCase): Promise<CueTimingResult> {
    const timed = spliceInsert({ eventId: TIMED, out: true, pts: one.frame * TICKS_PER_FRAME })
    const now = spliceInsert({ eventId: NOW, out: false, pts: null })
    const source = insertCues(
      this.#plain,
      [
        cueAtSeconds((one.frame - NOTICE) / RATE, timed),
        cueAtSeconds((one.frame + AT_ONCE) / RATE, now, 'frame'),
      ].toSorted((a, b) => a.position.ticks - b.position.ticks),
      600,
    )
    const taskApi = await new FakeTaskApi({ bytes: source }).start()
    try {
      taskApi.task = taskOf(one)
      await runTask(runRequest(taskApi), this.#bench.context())
      const failed = taskApi.fails.map(({ error, reason }) => `${reason}: ${error?.message ?? ''}`)
      if (failed.length > 0) return { ...one, faults: failed, late: Infinity }
      return await this.#faultsOf(one, taskApi, source)
    } finally {
      await taskApi.stop()
    }
  }

  async #faultsOf(one: CueTimingCase, taskApi: FakeTaskApi, source: Buffer): Promise<CueTimingResult> {
    const objects = storedObjects(taskApi)
    const spliced = [one.frame, one.frame + AT_ONCE]
    const transport =
      one.form === 'ts'
        ? objects.get('out/v0.ts')!
        : one.form === 'HLS-TS'
          ? joinedSegments(objects, 'out/video_0/playlist.m3u8')
          : null
    const media = transport ?? joinedSegments(objects, 'out/video_0/playlist.m3u8')
    const file = join(this.#bench.directory, `${(this.#made += 1)}.bin`)
    await writeFile(file, media)
    const faults = await framesOf(file, spliced)
    let late = 0
    if (transport !== null) {
      const inband = inTransport(transport, source, one)
      faults.push(...inband.faults)
      late = inband.late
    }
    const text = (path: string) => objects.get(path)!.toString()
    if (one.form === 'HLS-TS') faults.push(...inPlaylist(text('out/video_0/playlist.m3u8'), spliced, TS_ORIGIN_TICKS))
    if (one.form === 'HLS-CMAF') faults.push(...inPlaylist(text('out/video_0/playlist.m3u8'), spliced, 0))
    if (one.form === 'DASH') faults.push(...inManifest(text('out/manifest.mpd'), spliced))
    return { ...one, faults, late }
  }
}

function taskOf({ form, mode, captions }: CueTimingCase) {
  const change: Partial<JobConfig> = { scte35_passthough: true, closed_captions: captions, gop_length: GOP / RATE }
  const segmented = { ...change, segment_length: 1 }
  const task =
    form === 'ts'
      ? describeTask({ container: 'ts' })
      : segmentedTask(
          form === 'HLS-TS'
            ? { ...segmented, output_container: 'ts', segmented_output_hls: true }
            : {
                ...segmented,
                output_container: 'mp4',
                segmented_output_hls: true,
                segmented_output_dash: form === 'DASH',
              },
        )
  task.config = { ...task.config, ...(form === 'ts' ? change : {}) }
  for (const profile of task.config.videoProfiles) {
    Object.assign(profile, { width: 160, height: 90, video_bitrate: 200, video_bitrate_mode: mode })
  }
  return task
}

/** All frames exist, and those at splice points are key frames. */
async function framesOf(file: string, spliced: readonly number[]): Promise<string[]> {
  const all = (await readPackets(file)).map(({ pts_time, flags }) => ({
    time: Number(pts_time),
    key: flags.startsWith('K'),
  }))
  const shown = all.toSorted((a, b) => a.time - b.time)
  return [
    ...(shown.length === FRAMES ? [] : [`${shown.length} frames instead of ${FRAMES}`]),
    ...[0, ...spliced].filter((frame) => shown[frame]?.key !== true).map((frame) => `frame ${frame} is no key frame`),
  ]
}

/** The cues in the transport stream: where they arrive, and the time that they contain. */
function inTransport(stream: Buffer, source: Buffer, { frame }: CueTimingCase): { faults: string[]; late: number } {
  const seen = readCues(stream)
  const before = readCues(source)
  const faults: string[] = []
  let late = 0
  for (const { eventId, arrives, splices } of before) {
    const same = seen.filter((cue) => cue.eventId === eventId)
    if (same.length !== 1) faults.push(`cue ${eventId} ${same.length} times in the stream`)
    for (const cue of same) {
      // A stream cannot contain anything before its start.
      const first = eventId === TIMED ? Math.max(arrives, 0) : arrives
      late = Math.max(late, Math.abs(Math.max(cue.arrives, eventId === TIMED ? 0 : -Infinity) - first) * RATE)
      if (eventId === TIMED && Math.abs(cue.splices[0]! - splices[0]!) > ROUNDING)
        faults.push(`cue ${eventId} splices at ${cue.splices[0]} s instead of ${splices[0]} s`)
    }
  }
  if (late > 1 + ROUNDING) faults.push(`a cue of frame ${frame} arrives ${late.toFixed(2)} frames off`)
  return { faults, late }
}

function inPlaylist(playlist: string, spliced: readonly number[], origin: number): string[] {
  const faults: string[] = []
  const starts: number[] = []
  let at = 0
  let tags: string[] = []
  const marked = new Map<string, number>()
  for (const line of playlist.split('\n')) {
    if (line.startsWith('#EXT-X-CUE-OUT') && !line.startsWith('#EXT-X-CUE-OUT-CONT')) tags.push('out')
    if (line.startsWith('#EXT-X-CUE-IN')) tags.push('in')
    if (!line.startsWith('#EXTINF:')) continue
    for (const tag of tags) marked.set(tag, at)
    tags = []
    starts.push(at)
    at += Number(/#EXTINF:([\d.]+)/.exec(line)![1])
  }
  for (const frame of spliced)
    if (!starts.some((start) => isAt(start, frame))) faults.push(`no segment begins at frame ${frame}`)
  const ranges = [...playlist.matchAll(/#EXT-X-DATERANGE:.*/g)].map(([line]) => ({
    id: /ID="([^"]+)"/.exec(line)?.[1] ?? '',
    start: Date.parse(/START-DATE="([^"]+)"/.exec(line)?.[1] ?? '') / 1000,
    sections: [...line.matchAll(/SCTE35-(?:OUT|IN|CMD)=0x([\dA-Fa-f]+)/g)].map((found) =>
      Buffer.from(found[1]!, 'hex'),
    ),
  }))
  for (const [index, event] of [TIMED, NOW].entries()) {
    const range = ranges.find(({ id }) => id.includes(`-${event}-`))
    if (range === undefined) faults.push(`no date range of cue ${event}`)
    else if (!isAt(range.start, spliced[index]!)) faults.push(`date range of cue ${event} at ${range.start} s`)
    const [section] = range?.sections ?? []
    faults.push(
      ...(section === undefined ? [`no section of cue ${event}`] : cueFaults(section, event, spliced[index]!, origin)),
    )
  }
  if (!isAt(marked.get('out') ?? NaN, spliced[0]!)) faults.push(`EXT-X-CUE-OUT at ${marked.get('out')} s`)
  return faults
}

function inManifest(manifest: string, spliced: readonly number[]): string[] {
  const faults: string[] = []
  const scale = Number(/<EventStream [^>]*timescale="(\d+)"/.exec(manifest)?.[1])
  const events = [...manifest.matchAll(/<Event ([^>]*)>.*?<Binary>([^<]+)</gs)].map(([, head, binary]) => ({
    start: Number(/presentationTime="(\d+)"/.exec(head!)![1]) / scale,
    section: Buffer.from(binary!, 'base64'),
  }))
  for (const [index, event] of [TIMED, NOW].entries()) {
    const found = events.find(({ section }) => eventOf(section) === event)
    if (found === undefined) faults.push(`no event of cue ${event}`)
    else if (!isAt(found.start, spliced[index]!)) faults.push(`event of cue ${event} at ${found.start} s`)
    else faults.push(...cueFaults(found.section, event, spliced[index]!, 0))
  }
  const [, template = ''] = /contentType="video".*?<SegmentTemplate (.*?)<\/SegmentTemplate>/s.exec(manifest) ?? []
  const starts = timeline(template)
  for (const frame of spliced)
    if (!starts.some((start) => isAt(start, frame))) faults.push(`no segment begins at frame ${frame}`)
  return faults
}

/** Start times in seconds. */
function timeline(template: string): number[] {
  const scale = Number(/timescale="(\d+)"/.exec(template)?.[1])
  let at = 0
  return [...template.matchAll(/<S ([^>]*)\/>/g)].flatMap(([, text]) => {
    const value = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(text!)?.[1] ?? NaN)
    if (!Number.isNaN(value('t'))) at = value('t')
    return Array.from({ length: 1 + (value('r') || 0) }, () => {
      const start = at / scale
      at += value('d')
      return start
    })
  })
}

/** The time in the section itself, on the clock of its segments. */
function cueFaults(section: Uint8Array, event: number, frame: number, origin: number): string[] {
  const info = readSplice(section)
  if (info === null) return [`the section of cue ${event} is damaged`]
  const times = info.command.kind === 'insert' ? info.command.times : []
  if (event === NOW) return times.length === 0 ? [] : [`cue ${event} has a time`]
  const seconds = ((times[0] ?? NaN) - origin) / 90_000
  return isAt(seconds, frame) ? [] : [`the section of cue ${event} says ${seconds} s`]
}

function eventOf(section: Uint8Array): number | null {
  const command = readSplice(section)?.command
  return command?.kind === 'insert' ? command.eventId : null
}

/** Within half a frame. */
function isAt(seconds: number, frame: number): boolean {
  return Math.abs(seconds * RATE - frame) < 0.5
}
