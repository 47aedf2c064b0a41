// In charge of: audio that is shorter than its video, or ends before it starts, in every container and with every
// available ffmpeg.
// Not in charge of: gaps within it (node/transcoder/encoding/audioVideoSync.test.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../../../transcoder/ffmpeg/locate.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { ffmpegVersions } from '../../../../support/media/ffmpegVersions.ts'
import { peakLevel, audioSamples } from '../../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { FakeTaskApi } from '../../../../support/transcoder/fakeTaskApi.ts'
import { storedObjects, joinedSegments, segmentedTask } from '../../../../support/transcoder/segmentedTask.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../../support/longForm.ts'

const VIDEO_SECONDS = 5
const fixtures = await useAttemptFixture()
let taskApi: FakeTaskApi | undefined
afterEach(() => taskApi?.stop())

/** A tone from 0 on, and video that starts later. */
async function clip(name: string, toneSeconds: number, videoBegins: number): Promise<Buffer> {
  const path = join(fixtures.directory, name)
  await ffmpeg([
    ...['-itsoffset', `${videoBegins}`, '-f', 'lavfi', '-i', `testsrc2=s=64x64:r=25:d=${VIDEO_SECONDS}`],
    ...lavfi(`sine=r=48000:d=${toneSeconds},aformat=channel_layouts=stereo`),
    ...['-map', '0:v', '-map', '1:a', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-c:a', 'mp2', path],
  ])
  return readFile(path)
}

const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const forms = {
  mp4: { task: () => describeTask({ container: 'mp4' }), sound: (all) => all.get('out/v0.mp4') },
  ts: { task: () => describeTask({ container: 'ts' }), sound: (all) => all.get('out/v0.ts') },
  'HLS of transport streams': {
    task: () => segmentedTask({ output_container: 'ts', segmented_output_hls: true }),
    sound: (all) => joinedSegments(all, 'out/video_0/playlist.m3u8'),
  },
  'HLS and DASH': {
    task: () => segmentedTask(CMAF),
    sound: (all) => joinedSegments(all, 'out/audio_0/playlist.m3u8'),
  },
} satisfies Record<
  string,
  {
    task: () => ReturnType<typeof describeTask>
    sound: (all: Map<string, Buffer>) => Buffer | undefined
  }
>
const names = Object.keys(forms) as (keyof typeof forms)[]

/** The samples of the only track, and the codes of all warnings. */
async function transcode(engine: Engine, form: keyof typeof forms, bytes: Buffer) {
  taskApi = await new FakeTaskApi({ bytes }).start()
  taskApi.task = forms[form].task()
  await runTask(runRequest(taskApi), { ...fixtures.context(), engine })
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  const file = join(fixtures.directory, 'output')
  await writeFile(file, forms[form].sound(storedObjects(taskApi))!)
  return { sound: await audioSamples(file), warnings: (taskApi.finished?.warnings ?? []).map(({ code }) => code) }
}

describe.each(await ffmpegVersions())('ffmpeg %s', (_version, engine) => {
  describe.each(names)('%s', (form) => {
    test.each(sampled(['mkv', 'ts'], 1))(
      'audio that ends before the first frame is a silent track, with a warning (%s)',
      async (type) => {
        const { sound: audio, warnings } = await transcode(engine, form, await clip(`early.${type}`, 0.3, 0.4))
        expect(warnings).toContain('audio_ends_before_video')
        // Rounding to whole frames and packets.
        expect(Math.abs(audio.length / 48_000 - VIDEO_SECONDS)).toBeLessThan(0.1)
        expect(peakLevel(audio)).toBeLessThan(1e-4)
      },
    )
  })

  test.each(['HLS of transport streams', 'HLS and DASH'] as const)(
    '%s: audio that ends early goes on as silence to the end of the video',
    async (form) => {
      const { sound, warnings } = await transcode(engine, form, await clip('short.mkv', 1.3, 0))
      expect(warnings).not.toContain('audio_ends_before_video')
      expect(Math.abs(sound.length / 48_000 - VIDEO_SECONDS)).toBeLessThan(0.1)
      const loud = (from: number, to: number) =>
        sound.subarray(from * 48_000, to * 48_000).reduce((most, value) => Math.max(most, Math.abs(value)), 0)
      expect(loud(0.2, 1.2)).toBeGreaterThan(0.05)
      expect(loud(1.5, 4.9)).toBeLessThan(1e-4)
    },
  )
})
