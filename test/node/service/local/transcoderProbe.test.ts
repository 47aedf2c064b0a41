// In charge of: which transcoders the local service's probe ends.
// Not in charge of: the whole service with a frozen transcoder (recovery/frozen.long.test.ts).
import { afterEach, beforeEach, expect, test } from 'vitest'
import { probeTranscoder } from '../../../../scripts/local/processes/transcoderProbe.ts'
import { LoopbackServer } from '../../../support/http/loopbackServer.ts'
import { waitFor } from '../../../support/service.ts'

let server: LoopbackServer
let requests: number
let isFrozen: boolean
let health: string
const stopped: AbortController[] = []
beforeEach(async () => {
  requests = 0
  isFrozen = false
  health = ''
  server = await LoopbackServer.serve((_, response) => {
    requests++
    if (!isFrozen) response.writeHead(500).end(health)
  })
})
afterEach(async () => {
  for (const one of stopped) one.abort()
  await server[Symbol.asyncDispose]()
})

/** @param next the pid before each request */
function probe(next: () => number | null, answerMs: number) {
  const reports: string[] = []
  const stop = new AbortController()
  stopped.push(stop)
  const one = () => ({ name: 'transcoder', pid: next(), url: server.url, kill: () => reports.push('killed') })
  void probeTranscoder(one, (line) => reports.push(line), stop.signal, { askEveryMs: 1, answerMs })
  return reports
}

test('one that accepts connections and never answers is ended, once for every three missed answers', async () => {
  isFrozen = true
  let looks = 0
  const reports = probe(() => {
    looks++
    return 1
  }, 20)
  await waitFor('the second end', () => reports.length >= 4)
  expect(reports.slice(0, 2)).toEqual(['Restarting the transcoder: it has not responded for 0.06 s.', 'killed'])
  // Once before each request; a busy machine may give a request up before its server has seen it.
  expect(looks).toBeGreaterThanOrEqual(6)
})

test('the report names what the transcoder worked on when it last answered', async () => {
  health = JSON.stringify({ task_id: 'job-7', attempt: 2 })
  const reports = probe(() => 1, 1000)
  await waitFor('an answer', () => requests >= 2)
  isFrozen = true
  await waitFor('the end', () => reports.length >= 2)
  expect(reports[0]).toMatch(/^Restarting the transcoder: .* for 3 s, while it worked on attempt 2 at job-7\.$/)
})

test('one that answers with an error is left alone, and so is one that is being restarted', async () => {
  const reports = probe(() => 1, 60_000)
  await waitFor('several answers', () => requests >= 10)
  expect(reports).toEqual([])
  const absent = probe(() => null, 1)
  const before = requests
  await waitFor('the other probe to go on', () => requests >= before + 10)
  expect(absent).toEqual([])
})

test('a new process starts with a new count', async () => {
  isFrozen = true
  let asked = 0
  // Each one misses two answers; it is looked at once before each request.
  const reports = probe(() => Math.floor(asked++ / 2), 20)
  await waitFor('many requests', () => requests >= 8)
  expect(reports).toEqual([])
})
