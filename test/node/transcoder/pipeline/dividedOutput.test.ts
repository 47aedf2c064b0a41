// In charge of: a whole divided job: its output is that of one task.
// Not in charge of: single frames at the joins (plan/division), all codecs (dividedOutput.long.test.ts).
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { listSegments } from '../../../support/manifests/playlistSegments.ts'
import { makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { countFrames, joinedSegments, segmentedTask, storedObjects } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const clip = await makeSourceClip(fixture, 7)
const taskApi = useTaskApi(() => clip)

const task = (): TaskDescription => segmentedTask({ output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true }, [300, 150])

async function undivided(of: TaskDescription): Promise<Map<string, Buffer>> {
  const alone = await new FakeTaskApi({ bytes: clip }).start()
  try {
    alone.task = of
    await runTask(runRequest(alone), fixture.context())
    return storedObjects(alone)
  } finally {
    await alone.stop()
  }
}

/** Playlists without the names of segments. */
function shapes(objects: ReadonlyMap<string, Buffer>): Map<string, unknown> {
  const playlists = [...objects].filter(([path]) => path.endsWith('.m3u8') && !path.endsWith('master.m3u8'))
  return new Map(playlists.map(([path, body]) => [path, body.toString().match(/#EXTINF:[\d.]+/g)]))
}

test('a divided job has the segments of one task, in directories of its parts', async () => {
  await runDividedJob(fixture, taskApi, task(), { chunks: [0, 1, 2] })
  expect(taskApi.fails).toEqual([])
  expect(taskApi.breaches).toEqual([])
  const objects = storedObjects(taskApi)
  const whole = await undivided(task())
  expect([...objects.keys()].filter((path) => !path.includes('/j-1')).toSorted()).toEqual(
    [...whole.keys()].filter((path) => !path.includes('/j-1')).toSorted(),
  )
  expect(shapes(objects)).toEqual(shapes(whole))
  for (const path of shapes(whole).keys()) {
    const file = join(fixture.directory, `${path}.mp4`)
    await mkdir(dirname(file), { recursive: true })
    const bytes = joinedSegments(objects, path)
    await writeFile(file, bytes)
    if (path.includes('audio')) expect(bytes.equals(joinedSegments(whole, path))).toBe(true)
    else expect(await countFrames(fixture.engine, file)).toBe(175)
  }
  const uris = listSegments(objects.get('out/video_0/index.m3u8')!.toString()).map(({ uri }) => uri)
  expect(uris).toMatchInlineSnapshot()
})
