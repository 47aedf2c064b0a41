// In charge of: single files of a divided job: those of one task.
// Not in charge of: other codecs and sources (dividedFiles.long.test.ts), segments (dividedOutput.test.ts).
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { transportRates } from '../../../support/media/media.ts'
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

test('a transport stream of h.264 and aac', async () => {
  const source = await makeSourceClip(fixture, 9)
  const compared = await compareDivision(fixture, filesTask({}, [300], 'ts'), { source, chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const { counterErrors } = await transportRates(join(fixture.directory, 'divided/out/v0.ts'))
  expect(counterErrors).toBe(0)
})
