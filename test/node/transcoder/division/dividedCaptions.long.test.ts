// In charge of: captions in the frames of divided jobs, in every form, at every kind of frame rate, with what else is
// drawn over the video.
// Not in charge of: plain segments (dividedCaptions.test.ts).
import { stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { sentPairs } from '../../../support/captions/frameCaptions.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import {
  ACROSS,
  captionSource,
  carriedCaptions,
  expectSameCaptions,
  SPOKEN,
  withCaptions,
} from '../../../support/transcoder/comparedCaptions.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
const SCC = Buffer.from(
  [
    'Scenarist_SCC V1.0',
    '00:00:01:20\t94ae 94ae 9420 9420 9470 9470 c8e5 ecec ef80 c8e5 ecec ef80 c8e5 ecec ef80 942f 942f',
    '00:00:04:00\t942c 942c',
  ].join('\n\n'),
)

test.each<[string, string, Partial<JobConfig>, string?]>([
  ['60000/1001', 'segments', CMAF],
  ['24000/1001', 'segments', CMAF],
  ['50', 'transport stream segments', { output_container: 'hls' }],
  [
    '30000/1001',
    'SCC',
    { ...CMAF, captions: [{ input: 'https://h.example/a.scc', language: 'en', embed: 'cea-608' }] },
  ],
  ['25', 'with a burned-in file', { ...CMAF, burn_in_captions: { captions: 0 } }],
  ['25', 'a part of the source', { ...CMAF, start_seconds: 0.6, end_seconds: 7.4 }],
  ['60000/1001', 'interlaced', CMAF, ',tinterlace=mode=interleave_top,setfield=tff'],
])('%s frames per second: %s', async (rate, _name, change, filters) => {
  const task = withCaptions(segmentedTask({}), [{}, { embed_channel: 'CC3' }], change)
  const isScc = change.captions !== undefined
  const compared = await compareDivision(fixture, task, {
    source: await captionSource(rate, 8, filters),
    chunks: [0, 1, 3],
    captions: isScc ? [SCC] : [ACROSS, SPOKEN],
  })
  await expectSameSegments(fixture, compared)
  const [made] = await expectSameCaptions(fixture, compared)
  expect(sentPairs(made!.frames, 0)).not.toEqual([])
})

test.each(['mp4', 'ts'] as const)('one %s file, of a constant bitrate', async (container) => {
  const task = withCaptions(filesTask({ output_container: container }, [800], container), [{}])
  task.config.videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, video_bitrate_mode: 'cbr' as const }))
  const compared = await compareDivision(fixture, task, {
    source: await captionSource('25', 12),
    chunks: [0, 1, 2],
    captions: [ACROSS],
  })
  await expectSameFiles(fixture, compared)
  await expectSameCaptions(fixture, compared)
})

test('hevc carries them or says that it does not', async () => {
  const task = withCaptions(segmentedTask(CMAF), [{}], { video_codec: 'hevc' })
  const compared = await compareDivision(fixture, task, {
    source: await captionSource('25', 8),
    chunks: [0, 1, 3],
    captions: [ACROSS],
  })
  await expectSameSegments(fixture, compared)
  const captions = expectSameCaptions(fixture, compared, 'hevc')
  if ((await testFfmpeg()).features.hevcCaptions) await captions
  else await expect(captions).rejects.toThrow('0 of 200 frames have captions')
})

test('captions are a part of the bitrate that samples of the video find', async () => {
  const task = withCaptions(segmentedTask(CMAF, [120]), [{}])
  const compared = await compareDivision(fixture, task, {
    source: await captionSource('25', 20),
    chunks: null,
    captions: [ACROSS],
  })
  const [made] = await expectSameCaptions(fixture, compared)
  const { size } = await stat(made!.file)
  // They are about 17 kbps of it.
  expect(Math.abs((size * 8) / 20 / 1000 - 120)).toBeLessThan(8)
})

// ffmpeg 7 moves captions to the frames of another rate; version 5 leaves them out.
test.each<{ rate: '30000/1001' | '60000/1001'; framerate: '1x' | '2x'; change?: Partial<JobConfig> }>([
  { rate: '60000/1001', framerate: '1x' },
  { rate: '30000/1001', framerate: '2x' },
  { rate: '30000/1001', framerate: '1x', change: { start_seconds: 2.2, end_seconds: 9.5 } },
])('captions of the source at $rate, $framerate $change', async ({ rate, framerate, change }) => {
  const task = segmentedTask({ ...CMAF, audioProfiles: [], ...change })
  task.config.videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, video_framerate: framerate }))
  const compared = await compareDivision(fixture, task, {
    source: await carriedCaptions(fixture, rate, 10),
    chunks: [0, 1, 3],
  })
  await expectSameSegments(fixture, compared)
  const captions = expectSameCaptions(fixture, compared)
  if (framerate === '1x' || (await testFfmpeg()).features.captionsAcrossRates) await captions
  else await expect(captions).rejects.toThrow('0 of')
})
