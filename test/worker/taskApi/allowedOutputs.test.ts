// In charge of: a transcoder that a hostile file has taken over: its requests to the task API beyond its job's own
// outputs are refused, and nothing of them is stored. Which outputs a job has:
// test/node/contract/task/allowedOutputs.test.ts.
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { jobErrorPolicies } from '#contract/errorCodes.ts'
import type { FinishPost, WrittenObject } from '#contract/task/protocol.ts'
import { MAX_PLAN_BYTES } from '#contract/task/protocol.ts'
import { jobErrorFor } from '../../../worker/storage/jobErrorMapping.ts'
import { StoreError } from '../../../worker/storage/objectStore.ts'
import type { FakeAttempt } from '../support/fakeTranscoder.ts'
import { taskPlan } from '../support/taskPlan.ts'
import { readStatus, startJob } from '../support/jobFixture.ts'
import { errorCode } from '../support/apiClient.ts'

const HLS = 'application/vnd.apple.mpegurl'
const OTHER = '11111111-2222-4333-8444-555555555555'

const segmented = {
  output_container: 'hls',
  bucket_output_path: 'films/june',
  videoProfiles: [{ output: '', width: 640, height: 360, video_bitrate: 600 }],
}

/** Everything in the store except the records of attempts. */
async function stored(): Promise<string[]> {
  return (await env.BUCKET.list()).objects.map(({ key }) => key).filter((key) => !key.startsWith('work/'))
}

const written = (path: string, type = HLS): WrittenObject => {
  return { path, body: 'x', stage: 2, content_type: type, profile: null, role: 'manifest' }
}

test.each<[string, Record<string, unknown>, (attempt: FakeAttempt) => Partial<FinishPost>]>([
  ['another job’s directory', {}, () => ({ written: [written(`${OTHER}-1/x`)] })],
  ['another job’s directory in its own', segmented, () => ({ written: [written(`films/june/${OTHER}-1/x.m3u8`)] })],
  [
    'its own directory',
    segmented,
    ({ attemptDirectory: directory }) => ({ written: [written(`films/june/video_0/${directory}/00001.m4s`)] }),
  ],
  ['another film', segmented, () => ({ written: [written('films/july/master.m3u8')] })],
  ['a page', segmented, () => ({ written: [written('films/june/index.html', 'text/html')] })],
  ['a playlist as a page', segmented, () => ({ written: [written('films/june/master.m3u8', 'text/html')] })],
  ['a playlist of a job of single files', {}, () => ({ written: [written('master.m3u8')] })],
  ['the file of the job as a text', {}, () => ({ written: [written('film.mp4', 'video/mp4')] })],
])('finish may not name %s', async (_, job, change) => {
  const { id, attempt } = await startJob(job)
  const before = await stored()
  expect(await errorCode(await attempt.finish([], change(attempt)))).toBe('403 forbidden')
  expect(await stored()).toEqual(before)
  expect(await readStatus(id)).toMatchObject({ state: 'running', outputs: [] })
})

test('finish may not give an output another type', async () => {
  const { id, attempt } = await startJob()
  const film = await attempt.storeObject('film.mp4', new Uint8Array(6))
  expect(await errorCode(await attempt.finish([{ ...film, content_type: 'text/html' }]))).toBe('403 forbidden')
  expect(await errorCode(await attempt.finish([{ ...film, content_type: 'video/mp4\r\nx: y' }]))).toBe(
    '400 invalid_request',
  )
  expect((await attempt.finish([film])).status).toBe(200)
  expect((await readStatus(id)).outputs).toMatchObject([{ path: 'film.mp4', content_type: 'video/mp4' }])
})

test.each<[string, string, string]>([
  ['other.mp4', 'video/mp4', '403 forbidden'],
  ['films/july/film.mp4', 'video/mp4', '403 forbidden'],
  [`${OTHER}-1/film.mp4`, 'video/mp4', '403 forbidden'],
  ['film.mp4', 'text/html', '403 forbidden'],
  ['film.mp4', 'video/mp4\r\nset-cookie: a=b', '400 invalid_request'],
  ['film.mp4', 'video/mp4; charset=x', '400 invalid_request'],
  ['../x', 'video/mp4', '400 invalid_request'],
  ['/film.mp4', 'video/mp4', '400 invalid_request'],
  ['film.mp4\u0000', 'video/mp4', '400 invalid_request'],
])('no upload of %j as %j begins', async (path, type, expected) => {
  const { attempt } = await startJob()
  const answer = await attempt.taskApi('POST', '/uploads', { path, content_type: type, expected_size: 5 })
  expect(await errorCode(answer)).toBe(expected)
})

test('a forged upload handle cannot send a part to an upload', async () => {
  const { attempt } = await startJob()
  const elsewhere = await env.BUCKET.createMultipartUpload(`out/default/${attempt.job}/other.mp4`)
  const forged = (path: string) => btoa(JSON.stringify([path, elsewhere.uploadId])).replaceAll('=', '')
  for (const [path, expected] of [
    ['other.mp4', '403 forbidden'],
    ['../../other.mp4', '400 invalid_request'],
  ] as const) {
    const part = await attempt.taskApi('PUT', `/uploads/${forged(path)}/1`, new Uint8Array(6))
    expect(await errorCode(part)).toBe(expected)
  }
})

test.each<[string, (directory: string) => string, string, number]>([
  ['in no directory of the job', (directory) => `${directory}/00001.m4s`, 'video/mp4', 403],
  ['below another film', (directory) => `films/july/video_0/${directory}/00001.m4s`, 'video/mp4', 403],
  ['of no rendition', (directory) => `films/june/video_7/${directory}/00001.m4s`, 'video/mp4', 403],
  ['of another attempt', () => `films/june/video_0/${OTHER}-1/00001.m4s`, 'video/mp4', 403],
  ['that is a page', (directory) => `films/june/video_0/${directory}/index.html`, 'text/html', 403],
  ['that says to be a page', (directory) => `films/june/video_0/${directory}/00001.m4s`, 'text/html', 403],
])('no object is put %s', async (_, path, type, expected) => {
  const { attempt } = await startJob(segmented)
  const before = await stored()
  expect((await attempt.putObject(path(attempt.attemptDirectory), 'abc', type)).status).toBe(expected)
  expect(await stored()).toEqual(before)
  expect((await attempt.putObject(`films/june/video_0/${attempt.attemptDirectory}/00001.m4s`, 'abc')).status).toBe(200)
})

test.each<[string, unknown, string]>([
  ['nothing', undefined, '400 invalid_request'],
  ['null', null, '400 invalid_request'],
  ['an empty object', {}, '400 invalid_request'],
  ['a text', 'rm -rf /', '400 invalid_request'],
  ['a filter', { ...taskPlan(), scaler: 'scale,movie=/etc/passwd' }, '400 invalid_request'],
  ['a plan of another file', taskPlan('other.mp4'), '403 forbidden'],
  ['a plan for more than is kept', { ...taskPlan(), more: 'x'.repeat(MAX_PLAN_BYTES) }, '413 too_large'],
])('%s is no plan', async (_, value, expected) => {
  const { attempt } = await startJob()
  expect(await errorCode(await attempt.taskApi('POST', '/plan', { plan: value, warnings: [] }))).toBe(expected)
  expect(await (await attempt.taskApi('GET', '')).json()).toMatchObject({ plan: null })
  expect((await attempt.taskApi('POST', '/plan', { plan: taskPlan(), warnings: [] })).status).toBe(200)
})

test('a request that the store rejects ends the job; a body that was cut off is sent again', () => {
  const reported = (code: 'invalid' | 'body_broken') => {
    const answer = jobErrorFor('output', new StoreError(code, 'aws', 'put', 'x'))
    return [answer.status, answer.code, jobErrorPolicies[answer.code].permanent]
  }
  expect(reported('invalid')).toEqual([400, 'output_refused', true])
  expect(reported('body_broken')).toEqual([502, 'output_unreachable', false])
})

test('a request that the task API rejects ends the job with its message, without further attempts', async () => {
  const { id, attempt } = await startJob()
  const error = { code: 'task_refused', message: 'The plan has other.mp4, which is not an output of this job.' }
  await attempt.fail(error.code, error)
  expect(await readStatus(id)).toMatchObject({ state: 'error', job_completed: true, error })
})
