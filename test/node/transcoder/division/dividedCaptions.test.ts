// In charge of: captions in the frames of divided jobs, of files and of the source: each frame has the bytes that it has from
// one task, also where a caption is sent across a join.
// Not in charge of: which bytes those are (embeddedCaptions.test.ts), other codecs and forms (dividedCaptions.long.test.ts).
import { expect, test } from 'vitest'
import { sentPairs } from '../../../support/captions/frameCaptions.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import {
  ACROSS,
  captionSource,
  carriedCaptions,
  expectSameCaptions,
  SPOKEN,
  withCaptions,
} from '../../../support/transcoder/comparedCaptions.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const

test('two channels in CMAF segments of 25 and 12.5 frames per second', async () => {
  const task = withCaptions(segmentedTask(CMAF, [300, 200]), [{}, { embed_channel: 'CC3' }])
  const [first, second] = task.config.videoProfiles
  task.config.videoProfiles = [first!, { ...second!, video_framerate: '1/2x' }]
  const compared = await compareDivision(fixture, task, {
    source: await captionSource('25', 8),
    chunks: [0, 1, 2, 3],
    captions: [ACROSS, SPOKEN],
  })
  await expectSameSegments(fixture, compared)
  const [made] = await expectSameCaptions(fixture, compared)
  const { frames, file } = made!
  expect(await readCaptions(file)).toHaveLength(4)
  // The codes of the first caption are sent on both sides of the join at 2 s.
  const sent = sentPairs(frames, 0).map(({ frame }) => frame)
  expect(sent).toEqual(expect.arrayContaining([49, 50]))
  expect(sentPairs(frames, 1)).not.toEqual([])
})

test('captions of the source stay in their frames', async () => {
  const compared = await compareDivision(fixture, segmentedTask({ ...CMAF, audioProfiles: [] }), {
    source: await carriedCaptions(fixture, '30000/1001', 7),
    chunks: [0, 2],
  })
  await expectSameSegments(fixture, compared)
  const [made] = await expectSameCaptions(fixture, compared)
  expect(sentPairs(made!.frames, 0)).toHaveLength(made!.frames.length)
})
