// In charge of: single files of a divided job: those of one task.
// Not in charge of: other codecs and sources (dividedFiles.long.test.ts), segments (dividedOutput.test.ts).
import { expect, test } from 'vitest'
import { makeSourceClip } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

test('an mp4 of h.264 and aac', async () => {
  const source = await makeSourceClip(fixture, 9)
  const compared = await compareDivision(fixture, filesTask({ audio_output_path: 'sound' }), { source, chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const [alone, divided] = [compared.alone, compared.divided].map(({ finished }) => finished!.objects)
  const factsOf = (objects: typeof alone) =>
    objects!.map(({ path, role, media }) => [path, role, media?.duration_seconds])
  expect(factsOf(divided)).toEqual(factsOf(alone))
})
