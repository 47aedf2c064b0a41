// In charge of: attempts that a transcoder of an older protocol is running when this Worker is deployed (I17).
// Not in charge of: tasks that older transcoders refuse (test/node/transcoder/server/controlServer.test.ts).
import { expect, test } from 'vitest'
import type { HlsDescription } from '#contract/task/protocol.ts'
import { withOlderDescription } from '../../../worker/taskApi/olderTranscoders.ts'
import { postJson, createJob } from '../support/apiClient.ts'
import { noProgress } from '../support/fakeTranscoder.ts'
import { startNextAttempt } from '../support/jobFixture.ts'

test('the answer to a heartbeat has the member that protocol 3 reads', async () => {
  const id = await createJob()
  const attempt = await startNextAttempt()
  const post = async () => (await attempt.taskApi('POST', '/progress', noProgress)).json()
  expect(await post()).toEqual({ instruction: 'continue', verdict: 'continue' })
  expect((await postJson(`/api/v0/job/${id}/cancel`, {})).status).toBe(200)
  expect(await post()).toEqual({ instruction: 'cancel', verdict: 'cancel' })
})

test('so does the description of an HLS source', () => {
  const track = { language: null, maps: [], segments: [] }
  const description: HlsDescription = {
    playlist_digest: 'abc',
    ended: true,
    target_seconds: 6,
    tracks: [{ ...track, integer_durations: true }, track],
  }
  expect(withOlderDescription(description)).toEqual({
    pin: 'abc',
    playlist_digest: 'abc',
    ended: true,
    target_seconds: 6,
    tracks: [
      { ...track, integer_durations: true, rounds: true },
      { ...track, rounds: undefined },
    ],
  })
})
