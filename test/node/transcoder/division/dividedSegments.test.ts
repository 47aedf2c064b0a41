// In charge of: transport streams of divided jobs: those of one task.
// Not in charge of: other forms (dividedSegments.long.test.ts, dividedOutput.test.ts).
import { test } from 'vitest'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameSegments } from '../../../support/transcoder/comparedSegments.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

test('HLS of transport streams', async () => {
  const source = await makeSourceClip(fixture, 9)
  const task = segmentedTask({ output_container: 'hls', audio_output_path: 'sound' })
  await expectSameSegments(fixture, await compareDivision(fixture, task, { source, chunks: [0, 2] }))
})
