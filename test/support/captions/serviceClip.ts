// In charge of: a clip of 6 s with captions of both kinds: CC1, CC3 and programme data (XDS) with doubled codes, and the
// CEA-708 services 1 and 2, one of whose packets is longer than a frame at 59.94 frames per second holds.
// Not in charge of: reading them back.
import { readFile, writeFile } from 'node:fs/promises'
import { ffmpeg, lavfi } from '../media/media.ts'
import { insertFrames } from './captionedClip.ts'
import { characterPairs, ccDataTriplet } from './cea608Bytes.ts'

const SLOTS = 180
const EMPTY = [0, 0] as const

/** Shown in slot `from`, until the next one or `to`. */
function popOn(out: (readonly [number, number])[], field: 0 | 1, text: string, from: number, to?: number): void {
  const command = (code: number) => [0x14 + field, code] as const
  const twice = (code: readonly [number, number]) => [code, code]
  const codes = [command(0x20), command(0x2e), [0x14, 0x70] as const].flatMap(twice)
  const all = [...codes, ...characterPairs(text), ...twice(command(0x2f))]
  for (const [at, pair] of all.entries()) out[from - all.length + 2 + at] = pair
  if (to !== undefined) [out[to], out[to + 1]] = [command(0x2c), command(0x2c)]
}

function fieldPairs(field: 0 | 1): (readonly [number, number])[] {
  const pairs = Array.from({ length: SLOTS }, (): readonly [number, number] => EMPTY)
  popOn(pairs, field, field === 0 ? 'ONE IS HERE ' : 'UNO', 45)
  popOn(pairs, field, 'TWO', 90, 135)
  const xds = [[0x01, 0x03], ...characterPairs('TITLE '), [0x0f, 0x1d]] as const
  if (field === 1) for (const [at, pair] of xds.entries()) pairs[5 + at] = pair
  return pairs
}

const ascii = (text: string) => [...Buffer.from(text, 'latin1')]
const DEFINE = [0x98, 0x38, 0x80 | 90, 50, 0x71, 31, 0x11]
const [CLEAR, HIDE] = [
  [0x88, 1],
  [0x8a, 1],
]
/** By slot: commands of a service. */
const SENT: readonly (readonly [slot: number, service: number, bytes: readonly number[]])[] = [
  [40, 1, [...DEFINE, ...ascii('A WINDOW WITH LONG TEXT')]],
  [60, 2, [...DEFINE, ...ascii('VENTANA')]],
  [85, 1, [...CLEAR, ...ascii('LATER')]],
  [120, 1, HIDE],
  [130, 2, HIDE],
]

/** Triplets of one packet (CTA-708-E, 5). */
function packet(sequence: number, service: number, bytes: readonly number[]): number[][] {
  const body = [(service << 5) | bytes.length, ...bytes]
  const whole = body.length % 2 === 0 ? [...body, 0] : body
  const all = [((sequence & 3) << 6) | ((whole.length + 1) / 2), ...whole]
  return Array.from({ length: all.length / 2 }, (_, at) => [at === 0 ? 0xff : 0xfe, all[2 * at]!, all[2 * at + 1]!])
}

/** `rate`: 30000/1001 or 60000/1001. */
function frames(rate: string): number[][] {
  const perSlot = rate.startsWith('6') ? 2 : 1
  const count = 20 / perSlot
  const pairs = [fieldPairs(0), fieldPairs(1)] as const
  const waiting: number[][] = []
  return Array.from({ length: SLOTS * perSlot }, (_, frame) => {
    const slot = Math.floor(frame / perSlot)
    if (frame % perSlot === 0)
      for (const [index, [at, service, bytes]] of SENT.entries())
        if (at === slot) waiting.push(...packet(index, service, bytes))
    const own = ([0, 1] as const).filter((field) => perSlot === 1 || frame % 2 === field)
    const triplets = own.map((field) => ccDataTriplet(field, ...pairs[field][slot]!))
    const data = [...triplets, ...waiting.splice(0, count - triplets.length)]
    while (data.length < count) data.push([0xfa, 0, 0])
    return data.flat()
  })
}

export async function makeServiceClip(path: string, rate: string, { interlaced = false } = {}): Promise<string> {
  const [bare, said] = [`${path}.h264`, `${path}.said.h264`]
  const picture = interlaced
    ? 'testsrc2=s=160x120:r=60000/1001:d=6.006,tinterlace=mode=interleave_top'
    : `testsrc2=s=160x120:r=${rate}:d=6.006`
  const coder = '-c:v libx264 -preset ultrafast -bf 0 -threads 1 -pix_fmt yuv420p'.split(' ')
  const fields = interlaced ? ['-flags', '+ilme+ildct', '-x264-params', 'slices=1:tff=1'] : ['-x264-params', 'slices=1']
  await ffmpeg(['-y', ...lavfi(picture), ...coder, ...fields, bare])
  const data = frames(rate)
  await writeFile(
    said,
    insertFrames(await readFile(bare), (frame) => data[frame] ?? [0xfa, 0, 0]),
  )
  await ffmpeg(['-y', '-r', rate, '-f', 'h264', '-i', said, '-c', 'copy', path])
  return path
}
