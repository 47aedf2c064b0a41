// Outputs that have more than their plan.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FinishPost } from '#contract/task/protocol.ts'
import type { MediaFacts } from '#contract/task/mediaFacts.ts'
import { outputWarnings } from '../../../../transcoder/outputAnalysis/outputCheck.ts'
import type { AudioFilePlan } from '#contract/task/plan/plan.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeClip } from '../../../support/media/media.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const taskApi = useTaskApi(() => Buffer.alloc(0))

/** Matroska whose header and track state another length, in milliseconds. */
async function stating(name: string, was: number, stated: number): Promise<Buffer> {
  const bytes = await readFile(path(name))
  const header = Buffer.alloc(8)
  header.writeDoubleBE(was)
  const tag = (milliseconds: number): string => `00:00:${(milliseconds / 1000).toFixed(9).padStart(12, '0')}`
  const places = [bytes.indexOf(header), bytes.indexOf(tag(was))]
  expect(Math.min(...places)).toBeGreaterThan(0)
  bytes.writeDoubleBE(stated, places[0])
  bytes.write(tag(stated), places[1]!, 'latin1')
  return bytes
}

async function run(bytes: Buffer): Promise<FinishPost> {
  taskApi.source = { bytes }
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, audioProfiles: [] } }
  await runTask(runRequest(taskApi), fixture.context())
  expect(taskApi.fails).toEqual([])
  return taskApi.finished!
}

test("'output_differs': a source that states less than it has", async () => {
  await makeClip(path('clip.mkv'), { seconds: 7, audio: [], flags: ['-g', '25'] })
  const { warnings } = await run(await stating('clip.mkv', 7000, 3000))
  expect(warnings.find(({ code }) => code === 'output_differs')?.message).toContain(
    'lasts 7.0 s, and its source states 3.0 s.',
  )
})

test('more bits than were asked for, in files that are long enough to tell', () => {
  const warnings = (seconds: number, kbps: number) =>
    outputWarnings(
      {
        outputs: [],
        audioFiles: [
          { path: 'a.m4a', durationSeconds: seconds, audio: { codec: 'aac', bitrateKbps: 128 } } as AudioFilePlan,
        ],
      },
      [{ media: { duration_seconds: seconds, audio: [{ bitrate_kbps: kbps }] } as MediaFacts }],
    )
  expect([...warnings(20, 129), ...warnings(5, 500)]).toEqual([])
  expect(warnings(20, 500)).toMatchObject([{ message: 'a.m4a has 500 kbps of audio 1 instead of at most 128 kbps.' }])
})
