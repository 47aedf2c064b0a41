// In charge of: sources that are composed of pieces of different form, changed midway or given as `inputs`.
// Not in charge of: which pieces (composed.long.test.ts, rows/broadcast.ts).
import { writeFile } from 'node:fs/promises'
import { watch, type Seen } from './watch.ts'
import { AAC, watchInTurn, X264, type ClipOptions, type Workshop } from './workshop.ts'

export type Piece = Pick<ClipOptions, 'width' | 'height' | 'seconds' | 'channels' | 'soundRate'>

/**
 * One stream of each kind, whose form changes midway. `sound`: flags and extension of its encoder. The pieces last whole
 * frames of it, but the last one.
 */
export async function changedMidway(
  shop: Workshop,
  name: string,
  pieces: readonly Piece[],
  { flags, extension }: { flags: readonly string[]; extension: string },
): Promise<{ path: string; seen: Seen }> {
  const [videos, sounds, plain]: string[][] = [[], [], []]
  let from = 0
  for (const [index, piece] of pieces.entries()) {
    const file = (end: string): string => `${name}-${index}.${end}`
    const video = { ...piece, from, only: 'video' } as const
    const sound = { ...piece, from, only: 'sound' } as const
    videos!.push(await shop.clip(file('h264'), video, [...X264, '-bf', '0']))
    sounds!.push(await shop.clip(file(extension), sound, flags))
    // The tones of the front channels are the same in every form.
    plain!.push(await shop.clip(file('wav'), { ...sound, channels: 2, soundRate: 48_000 }, []))
    from += piece.seconds
  }
  const video = await shop.append(`${name}.h264`, videos!)
  const sound = await shop.append(`${name}.${extension}`, sounds!)
  const list = shop.file(`${name}.txt`)
  await writeFile(list, plain!.map((path) => `file '${path}'\n`).join(''))
  const pictures = ['-r', '25', '-i', video]
  const whole = await shop.convert(...pictures, '-f', 'concat', '-safe', '0', '-i', list, '-c', 'copy', `${name}.mkv`)
  return {
    path: await shop.convert(...pictures, '-i', sound, '-c', 'copy', `${name}.ts`),
    seen: await watch({ video: whole }, { ownShape: true }),
  }
}

/** Files for `inputs`, one for each piece, in a container of its own. */
export async function joinedFiles(
  shop: Workshop,
  pieces: readonly (Piece & { container: string; rate: number })[],
): Promise<{ paths: string[]; seen: Seen }> {
  const paths: string[] = []
  let from = 0
  for (const [index, { container, ...piece }] of pieces.entries()) {
    paths.push(await shop.clip(`joined-${index}.${container}`, { ...piece, from }, [...X264, '-bf', '0', ...AAC]))
    from += piece.seconds
  }
  return { paths, seen: await watchInTurn(paths) }
}

const VIDEO = {
  h264: [...X264, '-bf', '0'],
  mpeg2: ['-c:v', 'mpeg2video', '-b:v', '3M', '-bf', '0', '-g', '12'],
  hevc: ['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-x265-params', 'log-level=error:bframes=0'],
}
const SOUND = { aac: AAC, mp2: ['-c:a', 'mp2', '-b:a', '192k'], ac3: ['-c:a', 'ac3', '-b:a', '256k'] }

/** A transport stream on one clock, each of whose pieces has codecs and a program map of its own. */
export async function codecsMidway(
  shop: Workshop,
  pieces: readonly (Piece & { video: keyof typeof VIDEO; sound: keyof typeof SOUND })[],
): Promise<{ paths: string[]; seen: Seen }> {
  const files: string[] = []
  let from = 0
  for (const [index, { video, sound, ...form }] of pieces.entries()) {
    // MP2 has two channels at most.
    const piece = { ...form, channels: Math.min(sound === 'mp2' ? 2 : 6, form.channels ?? 2), from }
    const clock = ['-muxdelay', '0', '-output_ts_offset', `${10 + from}`, '-tables_version', `${index}`]
    files.push(await shop.clip(`codecs-${index}.ts`, piece, [...VIDEO[video], ...SOUND[sound], ...clock]))
    from += form.seconds
  }
  return { paths: [await shop.append('codecs.ts', files)], seen: await watchInTurn(files) }
}
