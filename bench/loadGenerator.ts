// In charge of: sending requests from a separate process, so that its CPU time is not attributed to the service: at a
// fixed rate, whether or not answers arrive (open loop), or with a fixed number in flight (closed loop).
// Not in charge of: evaluating the results (rows/load.ts).
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'

export interface LoadOptions {
  origin: string
  method: 'GET' | 'POST'
  /** Used in turn, each with its own key. */
  targets: { path: string; authorization: string }[]
  body: string | null
  /** The expected status of every answer. */
  expected: number
  /** `rate`: requests per second, open loop. `inFlight`: concurrent requests, closed loop. */
  pace: { rate: number } | { inFlight: number }
  seconds: number
}

export interface LoadResult {
  /**
   * Milliseconds from when a request was due (open loop) or sent (closed loop) to the last byte of its answer;
   * unordered.
   */
  latencies: number[]
  /** Duration until the last answer. */
  seconds: number
  /** Count of unexpected statuses and broken connections, by kind. */
  failures: Record<string, number>
  /** The created jobs. */
  created: { id: number; jobId: string; authorization: string }[]
}

const CONNECTIONS = 64

export async function generateLoad(order: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(order.origin, { connections: CONNECTIONS, headersTimeout: 120_000, bodyTimeout: 120_000 })
  const outcome: LoadResult = { latencies: [], seconds: 0, failures: {}, created: [] }
  const began = performance.now()
  let sent = 0
  const send = async (due: number): Promise<void> => {
    const target = order.targets[sent++ % order.targets.length]!
    let failure: string | null = null
    try {
      const answer = await pool.request({
        method: order.method,
        path: target.path,
        headers: {
          authorization: target.authorization,
          ...(order.body === null ? {} : { 'content-type': 'application/json' }),
        },
        ...(order.body === null ? {} : { body: order.body }),
      })
      const text = await answer.body.text()
      if (answer.statusCode !== order.expected) failure = `${answer.statusCode} ${text.slice(0, 100)}`
      else if (text.startsWith('{"_auto_generated_id_"')) {
        const made = JSON.parse(text) as { _auto_generated_id_: number; job_id: string }
        outcome.created.push({ id: made._auto_generated_id_, jobId: made.job_id, authorization: target.authorization })
      }
    } catch (error) {
      failure = String(error)
    }
    if (failure !== null) outcome.failures[failure] = (outcome.failures[failure] ?? 0) + 1
    outcome.latencies.push(performance.now() - due)
  }

  const { pace } = order
  const until = began + order.seconds * 1000
  if ('inFlight' in pace) {
    const lane = async (): Promise<void> => {
      while (performance.now() < until) await send(performance.now())
    }
    await Promise.all(Array.from({ length: pace.inFlight }, lane))
  } else {
    const answers: Promise<void>[] = []
    const total = Math.round(pace.rate * order.seconds)
    while (answers.length < total) {
      const now = performance.now()
      // A late timer sends the missed requests at once. Each is measured from when it was due.
      for (; answers.length < total;) {
        const due = began + (answers.length / pace.rate) * 1000
        if (due > now) break
        answers.push(send(due))
      }
      await pause(1)
    }
    await Promise.all(answers)
  }
  outcome.seconds = (performance.now() - began) / 1000
  await pool.close()
  return outcome
}

process.on('message', (order: LoadOptions) => {
  void generateLoad(order).then((outcome) => process.send?.(outcome))
})
process.on('disconnect', () => process.exit(0))
