// What audio is for, as readers of the outputs find it: kept from the source, or stated by the job.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { expect, test } from 'vitest'
import { AUDIO_PURPOSES } from '#contract/job/fields/profiles.ts'
import type { AudioPurpose, JobSpec } from '#contract/job/jobSpec.ts'
import { ffmpeg, lavfi, probeFile } from '../../../../support/media/media.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

const FLAGS = {
  main: [],
  audio_description: ['visual_impaired'],
  hearing_impaired: ['hearing_impaired'],
  clean_effects: ['clean_effects'],
  commentary: ['comment'],
  dub: ['dub'],
} satisfies Record<AudioPurpose, string[]>
const ALL = Object.values(FLAGS).flat()

async function clip(): Promise<string> {
  const path = tempDir.file('described.ts')
  await ffmpeg([
    ...lavfi('color=gray:s=64x64:r=25:d=1', 'sine=f=300:d=1', 'sine=f=500:d=1'),
    ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'mpeg2video', '-c:a', 'mp2'],
    ...['-metadata:s:a', 'language=eng', '-disposition:a:1', 'visual_impaired', path],
  ])
  return path
}

const tracks = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Flags of each audio stream of the output. */
async function flags(spec: Partial<JobSpec>, input: string): Promise<string[][]> {
  const { outputs } = await encode(jobSpec(spec), input)
  const { streams } = await probeFile(outputs[0])
  return streams
    .filter((each) => each.codec_type === 'audio')
    .map((each) => ALL.filter((name) => (each as { disposition?: Record<string, number> }).disposition?.[name] === 1))
}

const video = (count: number) => [
  videoProfile({ width: 64, height: 64, bitrateKbps: 100, audioProfiles: tracks(count) }),
]
const SOURCE = [audioProfile(), audioProfile({ index: 1, sourceStream: 2 })]

test.each(['ts', 'mp4'] as const)('audio description of the source is kept in %s', async (container) => {
  expect(await flags({ container, video: video(2), audio: SOURCE }, await clip())).toEqual([[], ['visual_impaired']])
})

test.each(['ts', 'mp4'] as const)('each purpose that %s has a place for is signalled', async (container) => {
  const audio = AUDIO_PURPOSES.map((purpose, index) => audioProfile({ index, sourceStream: 2, purpose }))
  const none: readonly AudioPurpose[] = container === 'ts' ? ['commentary', 'dub'] : ['clean_effects']
  expect(await flags({ container, video: video(audio.length), audio }, await clip())).toEqual(
    AUDIO_PURPOSES.map((purpose) => (none.includes(purpose) ? [] : FLAGS[purpose])),
  )
})
