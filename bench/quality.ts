// In charge of: checking that two outputs have the same quality: SSIM of the service's output and of the baseline
// against the scaled source, and against each other.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import type { Engine } from '../transcoder/ffmpeg/locate.ts'
import { colorMatrix, ffmpeg } from './ffmpeg.ts'

export interface Quality {
  ours: number
  baseline: number
  /** The service's output against the baseline: 1 = identical frames. */
  between: number
}

export async function compareQuality(
  engine: Engine,
  files: { source: string; ours: string; baseline: string },
  size: { width: number; height: number },
): Promise<Quality> {
  const paths = [files.source, files.ours, files.baseline]
  const matrices = await Promise.all(paths.map((path) => colorMatrix(engine.ffprobe, path)))
  // Converts all three to one size and one colour matrix. SD outputs may have another matrix than the source, which is
  // correct.
  const alike = (input: number): string =>
    `[${input}:v]zscale=w=${size.width}:h=${size.height}:filter=lanczos:min=${matrices[input]}:m=bt709:rin=limited:r=limited,format=yuv420p`
  const report = await ffmpeg(engine.ffmpeg, [
    ...['-loglevel', 'info', ...paths.flatMap((path) => ['-i', path]), '-filter_complex'],
    [
      `${alike(0)},split[s1][s2]`,
      `${alike(1)},split[o1][o2]`,
      `${alike(2)},split[b1][b2]`,
      '[o1][s1]ssim@ours[x]',
      '[b1][s2]ssim@baseline[y]',
      '[o2][b2]ssim@between[z]',
    ].join(';'),
    ...['-map', '[x]', '-map', '[y]', '-map', '[z]', '-f', 'null', '-'],
  ])
  const read = (name: string): number =>
    Number(new RegExp(`\\[ssim@${name} @[^\\]]*\\] SSIM .*All:([0-9.]+)`).exec(report)?.[1])
  return { ours: read('ours'), baseline: read('baseline'), between: read('between') }
}
