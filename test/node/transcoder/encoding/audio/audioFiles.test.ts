// audio_output_path: each profile as a file that decodes to the same audio as the output with video.
import { expect, test } from 'vitest'
import { makeClip, probeFile, tempDirectory } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encodeJob } from '../../../../support/media/encodeJob.ts'
import { levelDb, audioSamples } from '../../../../support/media/audioSamples.ts'

test('aac, ac3 and mp2 files have the duration and the audio of their stream', async () => {
  await using tempDir = await tempDirectory()
  const clip = await makeClip(tempDir.file('clip.mkv'), {
    width: 64,
    height: 64,
    seconds: 3,
    audio: [2, 6],
    flags: ['-metadata:s:a:0', 'language=swe'],
  })
  const spec = jobSpec({
    audioDirectory: 'a',
    audioVolume: 50,
    video: [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0, 1, 2] })],
    audio: [
      audioProfile(),
      audioProfile({ index: 1, codec: 'ac3', channels: 6, bitrateKbps: 384, sourceStream: 2 }),
      audioProfile({ index: 2, codec: 'mp2', bitrateKbps: 192 }),
    ],
  })
  const { outputs } = await encodeJob(spec, clip, tempDir.path)
  const [movie, aac, ac3, mp2] = outputs
  const facts = await Promise.all([aac!, ac3!, mp2!].map(probeFile))
  expect(facts.map(({ streams }) => streams.map((stream) => [stream.codec_name, stream.channels]))).toEqual([
    [['aac', 2]],
    [['ac3', 6]],
    [[expect.stringMatching(/^mp[23]$/), 2]],
  ])
  expect(facts[0]!.streams[0]!.tags?.['language']).toBe('swe')
  // Half the volume, as in the outputs with video. The 5.1 tone is in the centre.
  for (const [position, file, channel, from] of [
    [0, aac!, 0, 0],
    [1, ac3!, 2, 1],
    [2, mp2!, 0, 0],
  ] as const) {
    const audioTrack = await audioSamples(file, 0, channel)
    // One packet of the encoder with the longest frames, and its delay.
    expect(Math.abs(audioTrack.length / 48_000 - 3)).toBeLessThan(0.07)
    expect(Math.abs(levelDb(audioTrack) - levelDb(await audioSamples(movie, position, channel)))).toBeLessThan(0.1)
    expect(Math.abs(levelDb(audioTrack) - levelDb(await audioSamples(clip, from, channel)) + 6.02)).toBeLessThan(0.3)
  }
})
