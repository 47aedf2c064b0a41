// In charge of: the commands of docs/internals/debugging.md that repeat a command or a job, run as they stand there, on the log of a real
// attempt.
// Not in charge of: the routes that serve log and job (stubbed here; test/worker/taskApi/reports.test.ts).
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import { findOnPath } from '../../../transcoder/ffmpeg/sandbox.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { LoopbackServer } from '../../support/http/loopbackServer.ts'
import { skipTest } from '../../support/requirement.ts'
import { decodeFrames, tempDirectory } from '../../support/media/media.ts'
import { FakeTaskApi } from '../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  openAttemptFixture,
  runRequest,
} from '../../support/transcoder/attemptFixture.ts'
import { ROOT } from '../../../scripts/local/localSettings.ts'

const page = await readFile(join(ROOT, 'docs/internals/debugging.md'), 'utf8')
const [encodeAgain = '', jobAgain = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
const curl = await findOnPath('curl')

test('the commands that repeat an encode and a job', async (context) => {
  if (curl === null) skipTest(context, 'curl is not installed')
  await using tempDir = await tempDirectory()
  const fixture = await openAttemptFixture()
  const clip = await makeSourceClip(fixture, 2)
  const taskApi = await new FakeTaskApi({ bytes: clip }).start()
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, accepts: { source: true, preview: true, log: true } }
  await runTask(runRequest(taskApi), fixture.context())
  await taskApi.stop()
  await fixture.remove()
  expect(taskApi.finished?.objects).toHaveLength(1)

  // As worker/jobs/serveLog.ts writes it.
  const log = taskApi.logs
    .at(-1)!
    .commands.map(({ purpose, command }) => `# ${purpose}: 0.1 s, exit code 0\n${command}\n`)
  const answers: Record<string, string> = {
    '/api/v0/job/7': JSON.stringify({ _auto_generated_id_: 7, config: task.config }),
    '/api/v0/job/7/log': `Attempt 1\n${log.join('')}2026-01-01T00:00:00.000Z info  task accepted\n`,
  }
  await using server = await LoopbackServer.serve((request, response) => response.end(answers[request.url ?? '']))
  await writeFile(tempDir.file('film.mp4'), clip)
  const env = { ...process.env, BASE: server.url, KEY: 'key', JOB: '7' }
  for (const block of [encodeAgain, jobAgain])
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block], { cwd: tempDir.path, env })

  expect(await decodeFrames(tempDir.file('out/0.mp4'))).toHaveLength(50)
  const body: unknown = JSON.parse(await readFile(tempDir.file('job.json'), 'utf8'))
  expect(validateJob(body, { baseUrl: 'https://api.example.test' })).toMatchObject({ ok: true })
})
