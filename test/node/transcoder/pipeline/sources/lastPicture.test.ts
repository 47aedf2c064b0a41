// The last picture, whose duration ffmpeg takes from a nominal rate that is a multiple of the frames'.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { ffmpeg, testFfmpeg } from '../../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const path = (name: string): string => join(fixture.directory, name)

test('one picture, and a clock in milliseconds', async () => {
  const numbered = await makeNumberedClip(path('numbered.mkv'), { seconds: 1, video: ['-qp', '0'] })
  await ffmpeg(['-i', numbered, '-frames:v', '1', '-t', '0.1', '-c:v', 'msmpeg4', '-c:a', 'wmav2', path('one.asf')])
  taskApi.source = { bytes: await readFile(path('one.asf')) }
  taskApi.task = describeTask({ container: 'mp4' })
  await runTask(runRequest(taskApi), fixture.context())
  // ffmpeg 5 knows no duration of a single picture at all: an error, not a file of sound alone.
  const { clockFromUsedStreams } = (await testFfmpeg()).features
  const message = expect.stringContaining('has no video') as string
  expect(taskApi.fails).toMatchObject(clockFromUsedStreams ? [] : [{ error: { message } }])
  if (!clockFromUsedStreams) return
  const [bytes] = taskApi.objects().values()
  await writeFile(path('out.mp4'), bytes!)
  expect(await frameNumbers(path('out.mp4'))).toEqual([0])
})
