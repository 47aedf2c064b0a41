// In charge of: reading an HDR source's mastering display and its maximum light levels (SMPTE ST 2086, CTA-861.3).
// Not in charge of: how they are used (plan/video/hdr.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { VideoStream } from '../plan/model/mediaInfo.ts'

type HdrMetadata = Pick<VideoStream, 'masteringDisplay' | 'contentLight' | 'dynamicMetadata'>

/**
 * Decodes one frame, since the values are part of the video stream. Uses ffmpeg, because ffprobe crashes on some
 * streams (6.0, -show_frames). `input` is the source with all its flags.
 */
export async function readHdrMetadata(
  engine: FfmpegPrograms,
  input: readonly string[],
  pad: string,
  options: { cwd: string; signal?: AbortSignal },
): Promise<HdrMetadata> {
  const args = [
    ...['-nostdin', '-hide_banner', '-loglevel', 'level+info', '-nostats', '-progress', 'pipe:1'],
    ...input,
    ...['-map', pad, '-frames:v', '1', '-vf', 'showinfo', '-f', 'null', '-'],
  ]
  const { stderr } = await runFfmpeg(engine, args, { ...options, purpose: 'read HDR metadata' })
  options.signal?.throwIfAborted()
  return parseHdrMetadata(stderr)
}

const NUMBER = String.raw`(\d+\.\d+)`
const POINT = String.raw`\(${NUMBER},? ${NUMBER}\)`.replace(',? ', String.raw`,? ?`)
const DISPLAY = new RegExp(
  `mastering display.*?r${POINT} g${POINT} b${POINT} wp${POINT} min_luminance=${NUMBER}, max_luminance=${NUMBER}`,
  'i',
)

/** Parses the output of showinfo, which differs slightly between versions. */
export function parseHdrMetadata(log: string): HdrMetadata {
  const light = /MaxCLL=(\d+), MaxFALL=(\d+)/.exec(log)
  const display = DISPLAY.exec(log)?.slice(1).map(Number)
  const at = (index: number): number => display?.[index] ?? 0
  return {
    masteringDisplay:
      display === undefined
        ? null
        : {
            red: [at(0), at(1)],
            green: [at(2), at(3)],
            blue: [at(4), at(5)],
            white: [at(6), at(7)],
            minNits: at(8),
            maxNits: at(9),
          },
    contentLight: light === null ? null : { maximum: Number(light[1]), average: Number(light[2]) },
    dynamicMetadata: /side data - (HDR Dynamic Metadata|Dolby Vision)/i.test(log),
  }
}
