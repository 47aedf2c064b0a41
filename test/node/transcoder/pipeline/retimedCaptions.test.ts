// In charge of: captions of a source in the frames of outputs at other times than its own, in whole attempts: bytes of
// both fields, XDS and CEA-708, their order and times.
// Not in charge of: joined sources (joinedCaptions.test.ts), the same frame rate (captionPassthrough.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { CaptionDecoder } from '../../../../transcoder/formats/cea/captionDecoder.ts'
import { CaptionExtractor } from '../../../../transcoder/formats/cea/captionExtractor.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeServiceClip } from '../../../support/captions/serviceClip.ts'
import { ffmpeg, probeStream } from '../../../support/media/media.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const path = (name: string) => join(fixtures.directory, name)

async function run(
  input: string,
  change: Partial<JobConfig>,
  profile: Partial<JobConfig['videoProfiles'][number]> = {},
  task = describeTask({ container: change.output_container === 'mp4' ? 'mp4' : 'ts' }),
): Promise<Map<string, Buffer>> {
  taskApi.source = { bytes: await readFile(input) }
  const videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, ...profile }))
  const config = { ...task.config, audioProfiles: [], closed_captions: true, videoProfiles, ...change }
  taskApi.task = { ...task, config }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  return storedObjects(taskApi)
}

/** Triplets by frame, in the order in which frames are shown, and what a decoder makes of them. */
async function captionsOf(file: string) {
  const video = await ffmpeg([
    '-i',
    file,
    '-map',
    '0:V:0',
    '-c',
    'copy',
    '-muxdelay',
    '0',
    '-muxpreload',
    '0',
    '-f',
    'mpegts',
    '-',
  ])
  const extractor = new CaptionExtractor(0)
  const frames = [...extractor.push(video), ...extractor.end()]
  const first = frames[0]?.time ?? 0
  const decoder = new CaptionDecoder()
  for (const { time, bytes } of frames) decoder.push(time - first, bytes)
  const triplets = frames.map(({ bytes }) => Buffer.from(bytes).toString('hex').match(/.{6}/g) ?? [])
  const of = (...flags: string[]) =>
    triplets.flat().filter((each) => flags.includes(each.slice(0, 2)) && !/^f[cd]8080/.test(each))
  const { channels } = decoder.end(60)
  return {
    counts: new Set(triplets.map(({ length }) => length)),
    pairs: [of('fc'), of('fd')],
    packets: of('fe', 'ff'),
    cues: channels.map(({ channel, cues }) => ({
      channel,
      cues: cues.map(({ start, end, text }) => ({ start, end, text })),
    })),
  }
}

type Captions = Awaited<ReturnType<typeof captionsOf>>

/** Every byte is there once, in its order, and each cue within 70 ms of its time. */
function expectSame(after: Captions, before: Captions, count: number): void {
  expect(after.counts).toEqual(new Set([count]))
  expect(before.packets.length).toBeGreaterThan(10)
  expect(after.packets).toEqual(before.packets)
  expect(after.pairs).toEqual(before.pairs)
  const names = ['CC1', 'CC3', 'SERVICE1', 'SERVICE2']
  expect(before.cues.map(({ channel }) => channel)).toEqual(names)
  for (const [at, { channel, cues }] of before.cues.entries()) {
    expect(after.cues[at]!.channel).toBe(channel)
    expect(after.cues[at]!.cues.map(({ text }) => text)).toEqual(cues.map(({ text }) => text))
    for (const [index, { start, end }] of cues.entries()) {
      const found = after.cues[at]!.cues[index]!
      expect(Math.abs(found.start - start), `${channel} ${index}`).toBeLessThan(0.07)
      if (end < 59) expect(Math.abs(found.end - end), `${channel} ${index}`).toBeLessThan(0.07)
    }
  }
}

let [fast, slow, fields] = ['', '', '']
beforeAll(async () => {
  fast = await makeServiceClip(path('fast.ts'), '60000/1001')
  slow = await makeServiceClip(path('slow.ts'), '30000/1001')
  fields = await makeServiceClip(path('fields.ts'), '30000/1001', { interlaced: true })
})

describe('another frame rate', () => {
  test.each([
    ['59.94 to 29.97 in ts', () => fast, { output_container: 'ts' }, '1/2x', '30000/1001', 20],
    ['29.97 to 59.94 in mp4', () => slow, { output_container: 'mp4' }, '2x', '60000/1001', 10],
    ['fields to 59.94', () => fields, { output_container: 'ts', force_progressive: true }, '2x', '60000/1001', 10],
    ['29.97 to 14.985, mpeg2', () => slow, { output_container: 'ts', video_codec: 'mpeg2' }, '1/2x', '30000/1001', 20],
  ] as [string, () => string, Partial<JobConfig>, '1/2x' | '2x', string, number][])(
    '%s: every byte arrives once, in its order, at its time',
    async (_name, clip, change, factor, rate, count) => {
      const objects = await run(clip(), change, { video_framerate: factor })
      expect((taskApi.finished?.warnings ?? []).map(({ code }) => code)).not.toContain('captions_removed')
      const file = path(`out.${change.output_container}`)
      await writeFile(file, objects.get(`out/v0.${change.output_container}`)!)
      expect((await probeStream(file, 'video')).r_frame_rate).toBe(rate)
      expectSame(await captionsOf(file), await captionsOf(clip()), count)
    },
  )

  test('HLS: all channels and services are announced, in the frames and beside them', async () => {
    const objects = await run(fast, { segmented_output_hls: true }, { video_framerate: '1/2x' }, segmentedTask({}))
    const master = objects.get('out/master.m3u8')!.toString()
    for (const id of ['CC1', 'CC3', 'SERVICE1', 'SERVICE2'])
      expect(master).toMatch(new RegExp(`TYPE=CLOSED-CAPTIONS.*INSTREAM-ID="${id}"`))
    await writeFile(path('out.cmfv'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
    expectSame(await captionsOf(path('out.cmfv')), await captionsOf(fast), 20)
  })

  test('a part of the source', async () => {
    const objects = await run(fast, { output_container: 'ts', start_seconds: 1.5 }, { video_framerate: '1/2x' })
    await writeFile(path('part.ts'), objects.get('out/v0.ts')!)
    const [{ cues }] = (await captionsOf(path('part.ts'))).cues as [Captions['cues'][number]]
    const whole = (await captionsOf(fast)).cues[0]!.cues
    expect(cues.at(-1)!.text).toBe(whole.at(-1)!.text)
    expect(Math.abs(cues.at(-1)!.start - whole.at(-1)!.start + 1.5)).toBeLessThan(0.07)
  })
})

test('without closed_captions: true they are left out, and the warning says how they are kept', async () => {
  await run(fast, { output_container: 'ts', closed_captions: undefined }, { video_framerate: '1/2x' })
  const said = (taskApi.finished?.warnings ?? []).find(({ code }) => code === 'captions_removed')
  // ffmpeg 7 moves them by itself.
  if (said !== undefined) expect(said.message).toMatch(/closed_captions: true sends them again/)
})
