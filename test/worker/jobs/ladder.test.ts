// Jobs whose ladder depends on their source, in the Worker: which plan and paths they may have.
// Not in charge of: the renditions (test/node/transcoder/plan/ladder.test.ts).
import { expect, test } from 'vitest'
import { jobBody, postJson, readJson, createJob } from '../support/apiClient.ts'
import { taskPlan } from '../support/taskPlan.ts'
import { startJob } from '../support/jobFixture.ts'

const auto = { ladder: 'auto', videoProfiles: [] }

test('the job is read as it was sent, with the GOP that it has', async () => {
  const id = await createJob({ ...auto, videoProfiles: undefined })
  const { config } = await readJson(`/api/v0/job/${id}`)
  expect(config).toMatchObject({ ladder: 'auto', videoProfiles: [], gop_length: 2 })
})

test('its plan has the files of rungs that were not known before, and no others', async () => {
  const { attempt } = await startJob(auto)
  const planned = (...paths: string[]) => {
    const outputs = paths.map((path, profile) => ({ ...taskPlan(path).outputs[0]!, profile }))
    return attempt.taskApi('POST', '/plan', { plan: taskPlan('', { outputs }), warnings: [] })
  }
  expect((await planned('a_0_1080p.mp4', 'film.mp4')).status).toBe(403)
  expect((await planned('a_0_1080p.mp4', '../a_1_720p.mp4')).status).toBe(403)
  expect((await planned('a_0_1080p.mp4', 'a_1_720p.mp4', 'a_2_360p.mp4')).status).toBe(200)
})

test('segments go into the directories of rungs, and into no others', async () => {
  const { attempt } = await startJob({ ...auto, output_container: 'hls', bucket_output_path: 'show' })
  const put = async (path: string) => (await attempt.putObject(path, 'abc')).status
  expect(await put(`show/video_720p/${attempt.attemptDirectory}/00001.m4s`)).toBe(200)
  expect(await put(`show/video_0/${attempt.attemptDirectory}/00001.m4s`)).toBe(403)
  expect(await put(`show/video_/${attempt.attemptDirectory}/00001.m4s`)).toBe(403)
  expect(await put(`other/video_720p/${attempt.attemptDirectory}/00001.m4s`)).toBe(403)
})

test('videoProfiles together with ladder are rejected', async () => {
  const response = await postJson('/api/v0/job', jobBody({ ladder: 'auto' }))
  expect([response.status, await response.json<any>()]).toMatchObject([
    400,
    { error: { details: [{ code: 'conflict', field: 'videoProfiles' }] } },
  ])
})
