// In charge of: the movie of subtitle images: ffmpeg reads each image at its time, also where there are very many.
// Not in charge of: the images.
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { rgbaPng } from '../../../../../transcoder/extracts/png.ts'
import { movieEnd, movieStart, MOVIE_TIMESCALE } from '../../../../../transcoder/formats/bitmapSubtitles/imageMovie.ts'
import { ffmpeg, readPackets } from '../../../../support/media/media.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()

test('two images, 200,000 times', async () => {
  const images = await Promise.all(
    [255, 0].map((alpha) =>
      rgbaPng(
        2,
        2,
        Uint8Array.from({ length: 16 }, () => alpha),
      ),
    ),
  )
  const start = movieStart(images[0]!.length + images[1]!.length)
  const offsets = [start.length, start.length + images[0]!.length]
  const samples = Array.from({ length: 200_000 }, (_, index) => ({
    offset: offsets[index % 2]!,
    bytes: images[index % 2]!.length,
    duration: 1 + (index % 7),
  }))
  const file = tempDir.file('images.mov')
  await writeFile(file, Buffer.concat([start, ...images, movieEnd(2, 2, samples)]))
  const packets = await readPackets(file)
  expect(packets).toHaveLength(samples.length)
  let ticks = 0
  for (const [index, { pts_time: time, size }] of packets.entries()) {
    const { duration, bytes } = samples[index]!
    if (Math.abs(Number(time) * MOVIE_TIMESCALE - ticks) > 0.02 || Number(size) !== bytes)
      expect([index, time, size]).toEqual([index, ticks / MOVIE_TIMESCALE, bytes])
    ticks += duration
  }
  const decoded = await ffmpeg([
    '-i',
    file,
    ...'-frames:v 2 -fps_mode passthrough -pix_fmt rgba -f rawvideo -'.split(' '),
  ])
  expect([...decoded]).toEqual([...Array.from({ length: 16 }, () => 255), ...Array.from({ length: 16 }, () => 0)])
})
