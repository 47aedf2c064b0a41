// Audio streams of a transport stream that start later than ffmpeg usually probes.
import { expect, test } from 'vitest'
import { ffmpeg, lavfi, probeFile, tempDirectory } from '../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { encodeJob } from '../../../support/media/encodeJob.ts'
import { levelDb, audioSamples } from '../../../support/media/audioSamples.ts'

const video = [videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: [0] })]

test('a stream that begins after 5 MB is found, counted and carried, with and without the count', async () => {
  await using tempDir = await tempDirectory()
  const clip = tempDir.file('late.ts')
  const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=997:r=48000:d=${seconds}`]
  // Noise: more than 5 MB before the second stream starts.
  const picture = 'color=gray:s=320x180:r=25:d=7,noise=alls=100:allf=t'
  const inputs = [...lavfi(picture), ...tone(7), '-itsoffset', '5', ...tone(2)]
  const encoders = '-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -qp 4 -pix_fmt yuv420p -c:a mp2'.split(' ')
  await ffmpeg([...inputs, ...encoders, clip])
  const spec = (expectedAudioStreams: number | null) =>
    jobSpec({ container: 'ts', expectedAudioStreams, video, audio: [audioProfile({ sourceStream: 2 })] })
  await expect(encodeJob(spec(3), clip, tempDir.path)).rejects.toMatchObject({
    code: 'audio_stream_missing',
    field: 'ts_mode_input_audio_source_stream_count',
    details: { expected: 3, audio_streams: 2 },
  })
  for (const count of [null, 2]) {
    const { outputs } = await encodeJob(spec(count), clip, tempDir.path)
    const { streams } = await probeFile(outputs[0])
    expect(streams.map((stream) => stream.codec_type)).toEqual(['video', 'audio'])
    const audioTrack = await audioSamples(outputs[0])
    expect(Math.abs(audioTrack.length / 48_000 - 7)).toBeLessThan(0.1)
    // Silence up to 5 s, then the tone.
    expect(levelDb(audioTrack.subarray(0, 4.8 * 48_000))).toBeLessThan(-80)
    expect(levelDb(audioTrack.subarray(5.2 * 48_000))).toBeGreaterThan(-30)
  }
})
