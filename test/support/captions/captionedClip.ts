// In charge of: clips with closed captions in their video: generated (CEA-608 in ATSC A/53 messages, which ffmpeg cannot
// make by itself), and a real clip in a size that decodes quickly.
// Not in charge of: reading them back (decodedCaptions.ts).
import { readFile, writeFile } from 'node:fs/promises'
import type { TestContext } from 'vitest'
import { ffmpeg, sharedClip, lavfi } from '../media/media.ts'
import { sharedFile } from '../sharedFiles.ts'

const START_CODE = [0, 0, 0, 1]

/** With odd parity, as line 21 requires it. */
function odd(byte: number): number {
  const ones = byte.toString(2).replaceAll('0', '').length
  return ones % 2 === 0 ? byte | 0x80 : byte
}

/** Byte pairs of ANSI/CTA-608-E. */
type Pairs = readonly (readonly [number, number])[]

const [LOAD, ROW, SHOW, CLEAR] = [
  [0x14, 0x20],
  [0x14, 0x70],
  [0x14, 0x2f],
  [0x14, 0x2c],
] as const

function letters(text: string): Pairs {
  return Array.from({ length: Math.ceil(text.length / 2) }, (_, index) => [
    text.codePointAt(2 * index)!,
    text.codePointAt(2 * index + 1) ?? 0,
  ])
}

/** They show a line on channel 1 at once and erase it after `secondsShown` frames. */
function pairs(text: string, secondsShown: number): Pairs {
  const wait = Array.from({ length: secondsShown }, (): [number, number] => [0, 0])
  return [LOAD, ROW, ...letters(text), SHOW, ...wait, CLEAR]
}

/** A line that appears with the frame `from` and is erased with the frame `to`. */
export interface TimedLine {
  text: string
  from: number
  to: number
}

/** A line is sent in the frames before it appears, while the one before it may still be shown. */
export function timedPairs(lines: readonly TimedLine[]): Pairs {
  const sent: [number, number][] = []
  const put = (frame: number, each: Pairs): void => {
    for (const [index, pair] of each.entries()) {
      if (sent[frame + index] !== undefined) throw new Error(`frame ${frame + index} has two pairs`)
      sent[frame + index] = [...pair]
    }
  }
  for (const { text, from, to } of lines) {
    const codes: Pairs = [LOAD, ROW, ...letters(text), SHOW]
    put(from - codes.length + 1, codes)
    put(to, [CLEAR])
  }
  return Array.from(sent, (pair) => pair ?? [0, 0])
}

/** At 30 frames per second each has a pair of both fields, and so many triplets; at twice the rate fields alternate. */
const BOTH_FIELDS = 20

/** Triplets of a frame: its pair, as broadcasters send it with empty ones. */
function ccData([first, second]: Pairs[number], count: number, frame: number): number[] {
  const field = count < BOTH_FIELDS && count > 1 ? frame % 2 : 0
  const other = count < BOTH_FIELDS ? [] : [0xfd, odd(0), odd(0)]
  const services = Array.from({ length: count - 1 - other.length / 3 }, () => [0xfa, 0, 0])
  return [0xfc + field, odd(first), odd(second), ...other, ...services.flat()]
}

/** user_data_registered_itu_t_t35 (ATSC A/53 part 4, 6.2). */
function message(triplets: readonly number[]): number[] {
  const data = [0xb5, 0x00, 0x31, ...Buffer.from('GA94'), 3, 0xc0 | (triplets.length / 3), 0xff, ...triplets, 0xff]
  return [...START_CODE, 6, 4, data.length, ...data, 0x80]
}

/**
 * An H.264 byte stream with one slice per frame and without B-frames; adds `text` on channel 1 for `secondsShown`
 * frames.
 */
export function insertCaptions(bytes: Buffer, text: string, secondsShown: number): Buffer {
  return insertPairs(bytes, pairs(text, secondsShown))
}

/** The same with one pair for each frame, among so many triplets. */
export function insertPairs(bytes: Buffer, sent: Pairs, triplets = 1): Buffer {
  const queue = [...sent]
  return insertFrames(bytes, (frame) => ccData(queue.shift() ?? [0, 0], triplets, frame))
}

/** The same with the triplets of each frame. */
export function insertFrames(bytes: Buffer, tripletsOf: (frame: number) => readonly number[]): Buffer {
  const parts: Uint8Array[] = []
  let from = 0
  let frame = 0
  for (let at = bytes.indexOf('000001', 0, 'hex'); at >= 0; at = bytes.indexOf('000001', at + 3, 'hex')) {
    const type = bytes[at + 3]! & 0x1f
    if (type !== 1 && type !== 5) continue
    parts.push(bytes.subarray(from, at), Uint8Array.from(message(tripletsOf(frame))))
    frame += 1
    from = at
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

/** 2 s at 29.97 fps with `text` on channel 1. */
export async function makeCaptionedClip(file: (name: string) => string, text: string): Promise<string> {
  const [bare, said, path] = [file('bare.h264'), file('said.h264'), file('captions.ts')]
  const picture = 'testsrc2=s=320x180:r=30000/1001:d=2'
  // One slice per frame and no B-frames: the order of the messages is the order of the frames.
  const encoder = '-c:v libx264 -preset ultrafast -bf 0 -x264-params slices=1 -threads 1 -pix_fmt yuv420p'.split(' ')
  await ffmpeg([...lavfi(picture), ...encoder, bare])
  await writeFile(said, insertCaptions(await readFile(bare), text, 20))
  await ffmpeg(['-r', '30000/1001', '-f', 'h264', '-i', said, '-c', 'copy', path])
  return path
}

/** The first 8 s of captions-test.ts (CC1 and SERVICE1, 1920 × 1080), its captions unchanged, in 320 × 180. */
export async function smallCaptionsTest(context: TestContext): Promise<string> {
  const real = sharedClip(context, 'captions-test.ts')
  const flags = '-map 0:V:0 -t 8 -vf scale=320:180 -c:v libx264 -preset ultrafast -bf 0 -a53cc 1 -f mpegts'.split(' ')
  return (await sharedFile(['captions', real], 'ts', (path) => ffmpeg(['-i', real, ...flags, path]))) ?? real
}
