// In charge of: the outcome of a job in chunks, as the matrix reports it.
// Not in charge of: the rows (dividedRows.long.test.ts).
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { runDivided } from '../../matrix/dividedRun.ts'
import { BASE_URL, bodyOf } from '../../matrix/runner.ts'
import { makeClip } from '../../support/media/media.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()

test('a job that the last attempt made as a whole was made by one task', async () => {
  const filters = 'noise=alls=100:allf=t'
  const source = await makeClip(tempDir.file('noise.mp4'), { seconds: 0.4, width: 64, height: 64, filters, audio: [] })
  const videoProfiles = [{ width: 64, height: 64, video_bitrate_mode: 'cbr', video_bitrate: 100 }]
  const body = bodyOf({ audioProfiles: [], gop_length: 0.2, segment_length: 0.01, videoProfiles })
  const judged = validateJob(body, { baseUrl: BASE_URL })
  if (!judged.ok) throw new Error(judged.problems[0]!.message)
  const { config } = judged
  const logo = Buffer.alloc(0)
  const made = await runDivided({ config, source, logo, workDir: join(tempDir.path, 'work'), chunkSeconds: 0.2 })
  // Chunks of 0.2 s cannot keep a constant bitrate.
  expect(made).toEqual({ oneTask: 'the encoder of a chunk exceeded the constant bitrate at its end (video_0)' })
})
