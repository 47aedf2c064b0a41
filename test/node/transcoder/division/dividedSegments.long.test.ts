// In charge of: segments of divided jobs in every form but plain CMAF.
// Not in charge of: plain HLS (dividedSegments.test.ts).
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { cueAtSeconds, makeCueClip, readCues } from '../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../support/mpegts/spliceSections.ts'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

test.each<[string, Partial<JobConfig>]>([
  ['transport streams with separate audio', { output_container: 'hls', master_variant_mode: true }],
  ['Smooth', { output_container: 'silverlight' }],
  [
    'Smooth, HLS and DASH',
    { output_container: 'silverlight', segmented_output_hls: true, segmented_output_dash: true },
  ],
  ['a part of the source', { output_container: 'hls', start_seconds: 1.2, end_seconds: 8.4 }],
])('%s', async (_, changes) => {
  const source = await makeSourceClip(fixture, 9)
  const task = segmentedTask(changes, [300, 150])
  await expectSameSegments(fixture, await compareDivision(fixture, task, { source, chunks: [0, 2] }))
})

test('tar, with thumbnails', async () => {
  const source = await makeSourceClip(fixture, 9)
  const task = segmentedTask({
    output_container: 'hls',
    segmented_output_dash: true,
    create_tar_file: true,
    thumbnails: true,
  })
  const compared = await compareDivision(fixture, task, { source, chunks: [0, 2] })
  await expectSameSegments(fixture, compared)
  const { objects } = compared.divided
  const [inTar, alone] = ['tar_video_0.m3u8', 'video_0/playlist.m3u8'].map((name) =>
    joinedSegments(objects, `out/${name}`),
  )
  expect(inTar!.equals(alone!)).toBe(true)
})

test('cues', async () => {
  const cues = [
    cueAtSeconds(1, spliceInsert({ eventId: 1, out: true, pts: 3 * 90_000 })),
    cueAtSeconds(4, spliceInsert({ eventId: 2, out: false, pts: 5 * 90_000 })),
  ]
  const flags = ['-g', '50', '-bf', '2', '-f', 'mpegts']
  const source = await makeCueClip(join(fixture.directory, 'cues.ts'), { seconds: 8, audio: [1], flags }, cues)
  const task = segmentedTask({ output_container: 'hls', scte35_passthough: true })
  const compared = await compareDivision(fixture, task, { source, chunks: [0, 2], ranges: false })
  const path = 'out/video_0/playlist.m3u8'
  const [alone, divided] = [compared.alone, compared.divided].map(({ objects }) => ({
    listed: objects
      .get(path)!
      .toString()
      .match(/#EXT-X-DATERANGE.*/g),
    carried: readCues(joinedSegments(objects, path)),
  }))
  expect(alone!.listed).not.toBeNull()
  expect(alone!.carried).toHaveLength(2)
  expect(divided).toEqual(alone)
})
