// In charge of: what an HDR source says of the display it was made on and of its brightest picture (SMPTE ST 2086, CTA-861.3).
// Not in charge of: what becomes of it (plan/video/hdr.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import type { VideoStream } from '../plan/model/mediaInfo.ts'

type HdrMetadata = Pick<VideoStream, 'masteringDisplay' | 'contentLight' | 'dynamicMetadata'>

/**
 * Decodes one picture, since a stream carries these in its bits. ffmpeg tells them, not ffprobe, which ends with a fault on some
 * streams (6.0, -show_frames). `input` names the source with all its flags.
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

/** showinfo's words, which differ a little between versions. */
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
