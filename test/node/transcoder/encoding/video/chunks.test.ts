// In charge of: the chunks of a divided job: together they have exactly the frames of one run.
// Not in charge of: every kind of source (chunkSources.long.test.ts), segments (transcoder/segmenter).
import { test } from 'vitest'
import { makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { expectSameFrames, planOf, segmented } from '../../../../support/media/partFrames.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const directory = useTempDirectory()

test('an mp4', async () => {
  const input = await makeNumberedClip(directory.file('a.mp4'), { seconds: 21 })
  // From 2, 8 and 16 s: near the beginning, and behind it.
  await expectSameFrames(await planOf(segmented(), input, directory.path), { input }, [0, 1, 4, 8])
})
