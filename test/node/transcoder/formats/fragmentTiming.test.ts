// Timing of fragmented MP4 segments that another program wrote; here ffmpeg.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FragmentTimingReader, tracksOf } from '../../../../transcoder/formats/mp4/fragmentTiming.ts'
import { ffmpeg, lavfi, tempDirectory } from '../../../support/media/media.ts'

let tempDir: Awaited<ReturnType<typeof tempDirectory>>
beforeAll(async () => {
  tempDir = await tempDirectory()
  const made = lavfi('testsrc2=s=160x90:r=25:d=2', 'sine=r=48000:d=2')
  const coded = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-pix_fmt', 'yuv420p', '-c:a', 'aac']
  const movflags = '+empty_moov+default_base_moof'
  await ffmpeg([...made, ...coded, '-movflags', movflags, '-frag_duration', '200000', tempDir.file('film.mp4')])
})
afterAll(() => tempDir?.[Symbol.asyncDispose]())

test('the tracks of an initialisation section, and from when to when their fragments last', async () => {
  const film = await readFile(tempDir.file('film.mp4'))
  const at = film.indexOf('moof', 0, 'latin1') - 4
  const tracks = tracksOf(film.subarray(0, at))
  expect([...tracks.values()].map(({ isAudio }) => isAudio)).toEqual([false, true])
  const reader = new FragmentTimingReader(tracks)
  for (let from = at; from < film.length; from += 777) reader.push(film.subarray(from, from + 777))
  const [picture, audio] = [...reader.end()!.values()]
  expect(picture).toMatchObject({ first: 0, isAudio: false })
  expect(audio).toMatchObject({ first: 0, isAudio: true })
  // The duration of the last frame is the muxer's guess.
  expect(Math.abs(picture!.last + picture!.lastDuration! - 2 * 90_000)).toBeLessThan(3600)
  // Frames of 1,024 samples, and the priming frame before the first audio.
  expect(Math.abs(audio!.last + audio!.lastDuration! - 2 * 90_000)).toBeLessThanOrEqual(2 * 1920)
})

test('nothing is said where the section cannot be read, or holds the first fragments itself', async () => {
  const film = await readFile(tempDir.file('film.mp4'))
  expect(tracksOf(film).size).toBe(0)
  expect(tracksOf(film.subarray(0, 100)).size).toBe(0)
  expect(tracksOf(Buffer.from('init')).size).toBe(0)
  const reader = new FragmentTimingReader(new Map())
  reader.push(film)
  expect(reader.end()).toBeNull()
})
