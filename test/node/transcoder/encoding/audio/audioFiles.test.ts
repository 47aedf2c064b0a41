// audio_output_path: each profile as a file that decodes to the same sound as the output beside it.
import { expect, test } from 'vitest'
import { makeClip, probeFile, workspace } from '../../../../support/media/media.ts'
import { job, rendition, track } from '../../../../support/transcoder/jobSpecs.ts'
import { encode } from '../../../../support/media/encodeJob.ts'
import { levelDb, samples } from '../../../../support/media/audioSamples.ts'

test('aac, ac3 and mp2 files last as long as their stream and sound like it', async () => {
  await using space = await workspace()
  const clip = await makeClip(space.file('clip.mkv'), {
    width: 64,
    height: 64,
    seconds: 3,
    audio: [2, 6],
    flags: ['-metadata:s:a:0', 'language=swe'],
  })
  const spec = job({
    audioDirectory: 'a',
    audioVolume: 50,
    video: [rendition({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0, 1, 2] })],
    audio: [
      track(),
      track({ index: 1, codec: 'ac3', channels: 6, bitrateKbps: 384, sourceStream: 2 }),
      track({ index: 2, codec: 'mp2', bitrateKbps: 192 }),
    ],
  })
  const { outputs } = await encode(spec, clip, space.path)
  const [movie, aac, ac3, mp2] = outputs
  const facts = await Promise.all([aac!, ac3!, mp2!].map(probeFile))
  expect(facts.map(({ streams }) => streams.map((stream) => [stream.codec_name, stream.channels]))).toEqual([
    [['aac', 2]],
    [['ac3', 6]],
    [[expect.stringMatching(/^mp[23]$/), 2]],
  ])
  expect(facts[0]!.streams[0]!.tags?.['language']).toBe('swe')
  // Half the volume, as in the output beside them. The 5.1 tone is in the centre.
  for (const [position, file, channel, from] of [
    [0, aac!, 0, 0],
    [1, ac3!, 2, 1],
    [2, mp2!, 0, 0],
  ] as const) {
    const sound = await samples(file, 0, channel)
    // One packet of the slowest encoder, and its delay.
    expect(Math.abs(sound.length / 48_000 - 3)).toBeLessThan(0.07)
    expect(Math.abs(levelDb(sound) - levelDb(await samples(movie, position, channel)))).toBeLessThan(0.1)
    expect(Math.abs(levelDb(sound) - levelDb(await samples(clip, from, channel)) + 6.02)).toBeLessThan(0.3)
  }
})
