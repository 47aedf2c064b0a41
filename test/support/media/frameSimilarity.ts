// In charge of: how similar the frames of two videos are.
// Not in charge of: expectations.
import { ffmpeg } from './media.ts'

/** SSIM of each frame to the frame of the same time; `input` = ffmpeg flags of the other video, with `-i`. */
export async function frameSimilarities(file: string, input: readonly string[]): Promise<number[]> {
  const compared = await ffmpeg(['-i', file, ...input, '-lavfi', 'ssim=stats_file=-', '-f', 'null', '-'])
  return [...compared.toString().matchAll(/All:([\d.]+)/g)].map((match) => Number(match[1]))
}
