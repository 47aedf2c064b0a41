// In charge of: checking a source's frames before planning if its flags cannot be trusted: interlaced or not, telecined
// or not.
// Not in charge of: how the counts are used (plan/video/interlacing.ts), measuring audio (measureLoudness.ts, which it
// calls).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import { measureLoudness } from './measureLoudness.ts'
import type { IdetCounts, MediaInfo } from '../plan/model/mediaInfo.ts'
import { readCut } from '../plan/argv/cutArgs.ts'
import { steadyFilters, steadyFrameInput } from '../plan/argv/steadyFrames.ts'
import { codedFrames } from '../plan/video/color.ts'
import type { SourceUse } from '../plan/streams/cut.ts'
import { usedPids, videoSpecifier } from '../plan/streams/programSelection.ts'
import { copiesAllVideo } from '../plan/copy/settleCopies.ts'
import { needsIdet } from '../plan/video/interlacing.ts'

/** 20 s of PAL: enough to get past a title, and read in a second or two. */
const FRAMES = 500

/** `verdict`: nothing is measured in video that is copied (plan/streams/cut.ts). */
type Measured = { spec: JobSpec } & Pick<SourceUse, 'media' | 'verdict'>

interface MeasureOptions {
  signal?: AbortSignal
  cwd: string
  threads?: number
  seekable?: boolean
}

/** The probed source with the measurements. If nothing could be measured, the flags decide. */
export async function measureSource(
  engine: FfmpegPrograms,
  url: string,
  source: Measured,
  options: MeasureOptions,
): Promise<MediaInfo> {
  return measureFrames(engine, url, { ...source, media: await measureLoudness(engine, url, source, options) }, options)
}

/** Without the loudness, for which all of the source is read. */
export async function measureFrames(
  engine: FfmpegPrograms,
  url: string,
  { spec, media, verdict }: Measured,
  options: MeasureOptions,
): Promise<MediaInfo> {
  if (media.video === null || !needsIdet(spec, media) || copiesAllVideo(spec, verdict)) return media
  const { threads = 0, seekable = false, ...run } = options
  const { seek } = readCut(
    { cut: media.cut === undefined ? null : { ...media.cut, frames: null, movesClock: false } },
    seekable,
  )
  const { video } = media
  const frames = {
    coded: codedFrames(video),
    fullRange: false,
    rgb: false,
  } as const
  const reading = [...(seek ?? []), ...steadyFrameInput(frames)]
  // idet reads the frames beside one with its line size, which `pad` changes in some: ffmpeg 7.0 crashes then. `copy` makes
  // them alike.
  const filters = [...steadyFilters(frames), 'copy', 'idet']
  const result = await runFfmpeg(engine, idetArgs(url, reading, filters, videoSpecifier(usedPids(media)), threads), {
    ...run,
    purpose: 'detect interlacing',
  })
  options.signal?.throwIfAborted()
  return { ...media, video: { ...video, scan: parseIdet(result.stderr) } }
}

function idetArgs(
  url: string,
  reading: readonly string[],
  filters: readonly string[],
  pad: string,
  threads: number,
): string[] {
  return [
    '-nostdin',
    '-hide_banner',
    // idet prints its counts at this level.
    '-loglevel',
    'level+info',
    '-nostats',
    '-progress',
    'pipe:1',
    ...(threads > 0 ? ['-threads', `${threads}`] : []),
    ...inputFlags(url),
    // In rotated frames the fields would be side by side.
    '-noautorotate',
    // The part of the source that the job uses may differ from its beginning.
    ...reading,
    '-i',
    url,
    '-map',
    pad,
    '-frames:v',
    `${FRAMES}`,
    '-vf',
    filters.join(','),
    // Every frame once: repeats added by ffmpeg would look like repeated fields.
    '-fps_mode',
    'passthrough',
    '-f',
    'null',
    '-',
  ]
}

const MULTI = /Multi frame detection: TFF: *(\d+) BFF: *(\d+) Progressive: *(\d+)/g
const REPEATED = /Repeated Fields: Neither: *(\d+) Top: *(\d+) Bottom: *(\d+)/g

/** Parses idet's last summary (older versions also print zeros during set-up); null if no frame was counted. */
export function parseIdet(log: string): IdetCounts | null {
  const kinds = [...log.matchAll(MULTI)].at(-1)?.slice(1).map(Number)
  const fields = [...log.matchAll(REPEATED)].at(-1)?.slice(1).map(Number)
  if (kinds === undefined || fields === undefined) return null
  const [tff = 0, bff = 0, progressive = 0] = kinds
  const [neither = 0, repeatedTop = 0, repeatedBottom = 0] = fields
  if (neither + repeatedTop + repeatedBottom === 0) return null
  return { tff, bff, progressive, neither, repeatedTop, repeatedBottom }
}
