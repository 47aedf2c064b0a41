// In charge of: the decoders of bitmap subtitles: hostile bytes, and their pixels compared with those of ffmpeg's decoders.
// Not in charge of: times (subtitleTimeline.test.ts), whole attempts (pipeline/bitmapBurnIn.test.ts).
import { describe, expect, test } from 'vitest'
import type { SubtitleDecoder } from '../../../../../transcoder/formats/bitmapSubtitles/displaySet.ts'
import { DvbDecoder } from '../../../../../transcoder/formats/bitmapSubtitles/dvbDecoder.ts'
import { PesReader, SupReader } from '../../../../../transcoder/formats/bitmapSubtitles/packets.ts'
import { PgsDecoder } from '../../../../../transcoder/formats/bitmapSubtitles/pgsDecoder.ts'
import { drawImages } from '../../../../../transcoder/formats/bitmapSubtitles/subtitleArea.ts'
import { sampled } from '../../../../support/longForm.ts'
import { ffmpeg, sharedClip } from '../../../../support/media/media.ts'
import { pgsFile } from '../../../../support/media/pgsFile.ts'
import { displaySet } from '../../../../support/mpegts/subtitlePages.ts'
import { Random } from '../../../../support/seededRandom.ts'

const HD = { width: 1920, height: 1080 }
const box = { x: 90, y: 480, width: 360, height: 48, color: [81, 240, 90] } as const
const page = displaySet({ seconds: 0, box, canvas: HD })
const [composition] = [
  ...new SupReader().push(pgsFile(HD, [{ at: 1, shows: [{ x: 1, y: 2, width: 90, height: 20 }] }])),
]

describe('damaged packets', () => {
  const seeds = Array.from({ length: 400 }, (_, seed) => seed)
  test.each<[string, () => SubtitleDecoder, Uint8Array]>([
    ['DVB', () => new DvbDecoder(), page],
    ['PGS', () => new PgsDecoder(), composition!.data],
  ])('%s: whatever the bytes are, decoding ends without an error and with bounded images', (_name, open, packet) => {
    const whole = open().decode(packet)
    expect(whole.map(({ images }) => images.length)).toEqual([1])
    for (const seed of sampled(seeds, 100)) {
      const random = new Random(seed)
      const decoder = open()
      for (let repeat = 0; repeat < 4; repeat++) {
        const bytes = Uint8Array.from(packet)
        for (let change = random.whole(1, 6); change > 0; change--)
          bytes[random.whole(0, bytes.length - 1)] = random.whole(0, 255)
        const cut = random.chance(0.3) ? random.whole(0, bytes.length) : bytes.length
        for (const { images } of decoder.decode(bytes.subarray(0, cut)))
          for (const { width, height, pixels, palette } of images)
            expect([pixels.length, palette.length]).toEqual([width * height, 1024])
      }
    }
  })

  test('DVB: a page that names one region ten thousand times shows it once', () => {
    const decoder = new DvbDecoder()
    decoder.decode(page)
    const places = Array.from({ length: 10_000 }, () => [0, 0, 0, 1, 0, 1]).flat()
    const many = Uint8Array.of(0x0f, 0x10, 0, 1, (places.length + 2) >> 8, (places.length + 2) & 0xff, 30, 0, ...places)
    expect(decoder.decode(many)[0]?.images).toHaveLength(1)
  })

  test('PGS: objects that would fill the memory are not kept', () => {
    const decoder = new PgsDecoder()
    // Each of 4095 × 2304 pixels, which none of its bytes describes.
    const object = (id: number) => Uint8Array.of(0x15, 0, 12, 0, id, 0, 0xc0, 0, 0, 5, 0x0f, 0xff, 0x09, 0x00, 0)
    for (let id = 0; id < 4; id++) decoder.decode(object(id))
    expect(decoder.damaged).toBe(0)
    for (let id = 4; id < 64; id++) decoder.decode(object(id))
    expect(decoder.damaged).toBe(60)
  })
})

/** The different images that ffmpeg's own decoder makes of the first subtitle stream, as RGBA of the whole canvas. */
async function decodedByFfmpeg(flags: readonly string[], canvas: { width: number; height: number }): Promise<Buffer[]> {
  const raw = await ffmpeg([
    '-canvas_size',
    `${canvas.width}x${canvas.height}`,
    ...flags,
    '-filter_complex',
    '[0:s:0]format=rgba',
    '-fps_mode',
    'passthrough',
    '-f',
    'rawvideo',
    '-',
  ])
  const bytes = canvas.width * canvas.height * 4
  const frames = Array.from({ length: raw.length / bytes }, (_, frame) =>
    raw.subarray(frame * bytes, (frame + 1) * bytes),
  )
  return frames.filter((frame, index) => isVisible(frame) && (index === 0 || !frame.equals(frames[index - 1]!)))
}

function isVisible(pixels: Uint8Array): boolean {
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) return true
  return false
}

test('DVB of a broadcast: the same pixels as ffmpeg’s decoder', async (context) => {
  const clip = sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts')
  const canvas = { width: 720, height: 576 }
  const copy = '-copyts -map 0:s:0 -c copy -mpegts_copyts 1 -f mpegts -'.split(' ')
  const stream = await ffmpeg(['-i', clip, ...copy])
  const reader = new PesReader()
  const packets = [...reader.push(stream), ...reader.end()]
  const decoder = new DvbDecoder(reader.pages)
  const area = { canvas, area: { x: 0, y: 0, ...canvas } }
  const drawn = packets.flatMap(({ data }) => decoder.decode(data).map((set) => drawImages(area, canvas, set.images)))
  const ours = drawn.filter((pixels) => isVisible(pixels))
  const theirs = await decodedByFfmpeg(['-i', clip], canvas)
  expect(ours.length).toBeGreaterThan(5)
  expect(decoder.damaged).toBe(0)
  // ffmpeg may leave out the last ones, which end with the file.
  expect(theirs.length).toBeGreaterThan(3)
  for (const [index, frame] of theirs.entries()) {
    let different = 0
    for (let at = 0; at < frame.length; at += 4) {
      const pixel = ours[index]!
      const isClear = frame[at + 3] === 0
      if (isClear !== (pixel[at + 3] === 0)) different += 1
      else if (!isClear && [0, 1, 2, 3].some((channel) => Math.abs(frame[at + channel]! - pixel[at + channel]!) > 3))
        different += 1
    }
    expect([index, different]).toEqual([index, 0])
  }
})
