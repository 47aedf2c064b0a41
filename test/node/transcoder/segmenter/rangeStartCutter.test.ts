// In charge of: the first access unit of a chunk of a constant bitrate: its time, and what is left out of it.
// Not in charge of: joins (pipeline/dividedRate.test.ts).
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { removalDelayBits } from '../../../../transcoder/formats/video/hrdLengths.ts'
import { continuedUnit } from '../../../../transcoder/formats/video/pictureTiming.ts'
import { RangeStartCutter } from '../../../../transcoder/segmenter/cutters/constantRateRange.ts'
import { CmafVideoCutter } from '../../../../transcoder/segmenter/cutters/cmafVideoCutter.ts'
import { ffmpeg, testFfmpeg } from '../../../support/media/media.ts'
import { runProgram } from '../../../support/runProgram.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { cutSegments, encodeToBuffer, flashSource } from './cutStream.ts'

const tempDir = useTempDirectory()
const engine = await testFfmpeg()
const FIELD = /\] \d+\s+(cpb_removal_delay|cpb_removal_delay_length_minus1)\s+[01]+ = (\d+)$/

interface Read {
  /** Of each access unit. */
  delays: number[]
  /** Bits of that field. */
  bits: number
  pictures: string
}

async function read(media: Buffer): Promise<Read> {
  const file = tempDir.file('start.mp4')
  await writeFile(file, media)
  const trace = `-nostdin -i ${file} -c copy -bsf:v trace_headers -f null -`.split(' ')
  const { stderr } = await runProgram(engine.ffmpeg, trace)
  const fields = stderr.split('\n').flatMap((line) => {
    const [, name, value] = FIELD.exec(line) ?? []
    return name === undefined ? [] : [[name, Number(value)] as const]
  })
  const of = (wanted: string): number[] => fields.filter(([name]) => name === wanted).map(([, value]) => value)
  return {
    delays: of('cpb_removal_delay'),
    bits: of('cpb_removal_delay_length_minus1')[0]! + 1,
    pictures: (await ffmpeg(['-xerror', '-i', file, '-f', 'framemd5', '-'])).toString(),
  }
}

describe.each([
  ['progressive', '25', ''],
  ['interlaced, with an aspect and colours', '30000/1001', '-flags +ilme+ildct -aspect 4:3 -colorspace smpte170m'],
])('%s', (_name, rate, more) => {
  const cadence = { segmentFrames: 25, spliceFrames: [], frameRate: { num: 25, den: 1 } }

  test('the time counts from the key frame before, and the frames are the same', async () => {
    const coding = '-c:v libx264 -preset veryfast -b:v 100k -minrate 100k -maxrate 100k -bufsize 100k -pix_fmt yuv420p'
    const gops = '-g 25 -keyint_min 25 -sc_threshold 0 -bf 2 -x264-params nal-hrd=cbr:force-cfr=1'
    const mp4 = '-f mp4 -use_editlist 0 -movflags +cmaf+frag_keyframe+negative_cts_offsets+skip_trailer'
    const encoded = await encodeToBuffer(
      engine,
      `${flashSource(2, rate, '160x96')} -map 0:v ${coding} ${gops} ${more} ${mp4}`.replaceAll('  ', ' '),
    )
    const cut = (ticks: number, pieceBytes: number): Buffer => {
      const cutter = new RangeStartCutter(new CmafVideoCutter(cadence, 0), ticks)
      const { init, segments } = cutSegments(cutter, encoded, { pieceBytes })
      return Buffer.concat([init!, ...segments.map(({ bytes }) => bytes)])
    }
    const [alone, continued] = [await read(encoded), await read(cut(50, 1000))]
    expect(alone.delays.slice(0, 3)).toEqual([0, 2, 4])
    expect(continued.delays).toEqual(alone.delays.with(0, 50))
    expect(continued.pictures).toBe(alone.pictures)
    expect(cut(50, 1).equals(cut(50, encoded.length))).toBe(true)
    // The encoder's own message.
    expect([encoded.includes('x264 - core'), cut(50, 1000).includes('x264 - core')]).toEqual([true, false])
    // As many ticks as the field holds.
    expect((await read(cut(2 ** alone.bits + 6, 1000))).delays[0]).toBe(6)
  })
})

describe('units', () => {
  const slice = [0, 0, 0, 2, 0x65, 0x88]
  const timing = [0, 0, 0, 6, 6, 1, 2, 0xff, 0xff, 0x80]
  const change = (unit: number[], ticks: number, bits: number): number[] => [
    ...continuedUnit(Uint8Array.from(unit), 4, { ticks, bits }),
  ]

  test('the field alone is changed; zeros are escaped, and an escaped message is read', () => {
    expect(change([...timing, ...slice], 0x2aa, 10)).toEqual([0, 0, 0, 6, 6, 1, 2, 0xaa, 0xbf, 0x80, ...slice])
    const zeros = [0, 0, 0, 8, 6, 1, 3, 0, 0, 3, 1, 0x80]
    expect(change([...zeros, ...slice], 0, 16)).toEqual([...zeros, ...slice])
    expect(change([...zeros, ...slice], 0x100, 16)).toEqual([0, 0, 0, 7, 6, 1, 3, 1, 0, 1, 0x80, ...slice])
  })

  test('other messages stay', () => {
    const captions = [0, 0, 0, 5, 6, 4, 1, 7, 0x80]
    expect(change([...captions, ...timing, ...slice], 0xff, 8).slice(0, captions.length)).toEqual(captions)
  })

  test.each([
    ['no time', slice],
    ['broken access unit', [...timing, 0, 0, 0, 9, 1]],
    ['broken access unit', [0, 0, 0, 4, 6, 1, 0, 0x80, ...slice]],
  ])('%s', (message, unit) => {
    expect(() => change(unit, 1, 10)).toThrow(message)
  })

  test('parameter sets without a buffer model', () => {
    expect(() => removalDelayBits('')).toThrow('no buffer model')
    expect(() => removalDelayBits('0000000168ce3c80')).toThrow('no buffer model')
  })
})
