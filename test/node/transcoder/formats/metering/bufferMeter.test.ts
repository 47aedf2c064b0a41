// In charge of: the demand of a real stream, as a model sees it that reads the stored file.
// Not in charge of: the demand of given frames (video/decoderBuffer.test.ts).
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { BufferMeter } from '../../../../../transcoder/formats/metering/bufferMeter.ts'
import { fullnessBehind, lackingBits } from '../../../../../transcoder/formats/video/decoderBuffer.ts'
import { runDecoderBuffer } from '../../../../support/media/decoderBuffer.ts'
import { readPackets, testFfmpeg } from '../../../../support/media/media.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'
import { encodeToBuffer, flashSource } from '../../segmenter/cutStream.ts'

const tempDir = useTempDirectory()
const FRAMES = 75
const SIZE = 1_000_000
const PER_FRAME = 30_000

const CMAF = '-an -f mp4 -use_editlist 0 -movflags +cmaf+frag_keyframe+negative_cts_offsets+skip_trailer'
const ENCODERS = {
  h264: '-c:v libx264 -preset ultrafast -g 25 -bf 2',
  'h264 in two slices': '-c:v libx264 -preset ultrafast -g 25 -slices 2',
  hevc: '-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params log-level=error:keyint=25:bframes=2',
}

test.each(Object.entries(ENCODERS))('%s', async (name, encoder) => {
  const stream = await encodeToBuffer(
    await testFfmpeg(),
    `${flashSource(FRAMES / 25)} ${encoder} -pix_fmt yuv420p ${CMAF}`,
  )
  const file = tempDir.file('stream.mp4')
  await writeFile(file, stream)
  const bytes = (await readPackets(file, 'v:0')).map(({ size }) => Number(size))
  expect(bytes).toHaveLength(FRAMES)
  // Length fields have a byte more than start codes, but the first of an access unit. An encoder begins with a message.
  const slices = name.includes('slices') ? 2 : 1
  const counted = bytes.map((each, frame) => each - (slices - 1) - (frame === 0 ? 1 : 0))
  const found = [7, 1000, stream.length].map((piece) => {
    const meter = new BufferMeter({ size: SIZE, perFrame: PER_FRAME })
    for (let at = 0; at < stream.length; at += piece) meter.push(stream.subarray(at, at + piece))
    return meter.demand!
  })
  expect(found[1]).toEqual(found[0])
  expect(found[2]).toEqual(found[0])
  const initial = SIZE / 2
  const model = { rate: PER_FRAME * 25, size: SIZE, framesPerSecond: 25, initial }
  const { fullness } = runDecoderBuffer([...counted, 0], model)
  const lacking = Math.max(...counted.map((each, frame) => each * 8 - fullness[frame]!))
  expect([fullnessBehind(found[0]!, initial), lackingBits(found[0]!, initial)]).toEqual([
    fullness.at(-1),
    Math.max(0, lacking),
  ])
})

test('a stream without a frame', () => {
  const meter = new BufferMeter({ size: SIZE, perFrame: PER_FRAME })
  meter.push(Buffer.from([0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]))
  expect(meter.demand).toBeNull()
})
