// In charge of: which audio each output of a real job has, if its video profiles select different audio profiles.
// Not in charge of: the text of playlists and manifests (../manifests).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { dominantFrequency, audioSamples } from '../../../support/media/audioSamples.ts'
import { makeClip, probeFile } from '../../../support/media/media.ts'
import { parseAttributes, readTags } from '../../../support/manifests/hlsRules.ts'
import { storedObjects, joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

/** Of the source's two audio streams. */
const TONES = [440, 880] as const
const selections = ['0', '1', 'none'] as const
const heard = [[440], [880], []]

const fixtures = await useAttemptFixture()
let clip: Buffer
const taskApi = useTaskApi(() => clip)
let made = 0
beforeAll(async () => {
  const path = join(fixtures.directory, 'two.mp4')
  clip = await readFile(await makeClip(path, { seconds: 3, width: 160, height: 90, audio: [2, 2] }))
})

const audioProfiles = [1, 2].map((source_stream) => ({
  audio_codec: 'aac' as const,
  audio_channels: '2' as const,
  audio_bitrate: '96',
  source_stream: String(source_stream),
}))

async function run(change: Partial<JobConfig>, segmented = true): Promise<Map<string, Buffer>> {
  const bitrates = selections.map(() => 150)
  const task = segmented ? segmentedTask({ segment_length: 1 }, bitrates) : describeTask({ container: 'mp4', bitrates })
  const videoProfiles = task.config.videoProfiles.map((profile, at) => {
    return { ...profile, width: 160, height: 90, audio_profiles: selections[at]! }
  })
  taskApi.task = {
    ...task,
    config: { ...task.config, ...change, videoProfiles, audioProfiles } as JobConfig,
  }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  return storedObjects(taskApi)
}

const warned = () => taskApi.plans[0]?.warnings.map(({ code }) => code)

/** The tone of each audio stream. */
async function tonesOf(bytes: Buffer): Promise<number[]> {
  const file = join(fixtures.directory, `${(made += 1)}.bin`)
  await writeFile(file, bytes)
  const { streams } = await probeFile(file)
  const audio = streams.filter(({ codec_type }) => codec_type === 'audio')
  return Promise.all(audio.map(async (_, at) => nearest(dominantFrequency(await audioSamples(file, at)))))
}

function nearest(hertz: number): number {
  return TONES.find((tone) => Math.abs(tone - hertz) < 5) ?? hertz
}

test('single files have the audio that their profile selects, or none', async () => {
  const objects = await run({}, false)
  for (const [at, tones] of heard.entries()) expect(await tonesOf(objects.get(`out/v${at}.mp4`)!)).toEqual(tones)
})

test('transport stream segments have it inside', async () => {
  const objects = await run({ output_container: 'ts', segmented_output_hls: true })
  for (const [at, tones] of heard.entries())
    expect(await tonesOf(joinedSegments(objects, `out/video_${at}/playlist.m3u8`))).toEqual(tones)
})

describe.each<[string, Partial<JobConfig>]>([
  ['CMAF', { output_container: 'mp4', segmented_output_hls: true, segmented_output_dash: true }],
  [
    'transport streams',
    { output_container: 'ts', segmented_output_hls: true, separate_audio: true, master_variant_mode: true },
  ],
])('separate audio in %s', (_, change) => {
  test('each variant of HLS has the audio of its profile, and a warning says that they differ', async () => {
    const objects = await run(change)
    expect(warned()).toContain('audio_selections_differ')
    const tags = readTags(objects.get('out/master.m3u8')!.toString())
    const media = tags.filter(({ name }) => name === 'EXT-X-MEDIA').map(({ value }) => parseAttributes(value))
    const offered = await Promise.all(
      tags.flatMap(({ name, value }, at) => {
        if (name !== 'EXT-X-STREAM-INF') return []
        const group = parseAttributes(value).get('AUDIO')
        const members = media.filter((one) => one.get('TYPE') === 'AUDIO' && one.get('GROUP-ID') === group)
        const tones = members.map((one) => tonesOf(joinedSegments(objects, `out/${one.get('URI')}`)))
        return [Promise.all(tones).then((each) => [tags[at + 1]!.value, each.flat()])]
      }),
    )
    expect(offered).toEqual(heard.map((tones, at) => [`video_${at}/playlist.m3u8`, tones]))
  })
})

test('DASH says which audio goes with which video', async () => {
  const objects = await run({ output_container: 'mp4', segmented_output_dash: true })
  expect(warned()).not.toContain('audio_selections_differ')
  const manifest = objects.get('out/manifest.mpd')!.toString()
  const sets = [...manifest.matchAll(/<AdaptationSet id="(\d+)".*?<Representation id="([^"]+)"/gs)]
  const name = new Map(sets.map(([, id, representation]) => [id!, representation!]))
  const together = [...manifest.matchAll(/<Subset contains="([^"]+)"/g)].map(([, ids]) =>
    ids!.split(' ').map((id) => name.get(id)),
  )
  expect(together).toEqual([['video_0', 'audio_0'], ['video_1', 'audio_1'], ['video_2']])
})
