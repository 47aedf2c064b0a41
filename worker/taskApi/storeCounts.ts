// In charge of: counting reads of sources and errors of stores, as the task API answers them.
// Not in charge of: the bytes of outputs, which are counted exactly, at the commit (transitionTotals.ts).
import { createMiddleware } from 'hono/factory'
import { SOURCE_ERROR_HEADER } from '#contract/task/protocol.ts'
import type { TaskEnv } from './taskContext.ts'
import { countInIsolate } from '../metrics/isolateCounts.ts'

/** `/task/<id>/input…`. Bytes that were offered: a transcoder may read fewer of them. */
export const countSourceReads = createMiddleware<TaskEnv>(async (c, next) => {
  await next()
  if (c.req.method !== 'GET' || !c.req.path.split('/')[3]?.startsWith('input')) return
  const code = c.res.headers.get(SOURCE_ERROR_HEADER)
  if (code !== null) return countStoreError(c.env, 'input', code)
  const bytes = Number(c.res.headers.get('content-length') ?? 0)
  if (c.res.ok && bytes > 0)
    countInIsolate(c.env, 'stores', (totals) => totals.add('source_read_bytes_total', {}, bytes))
})

/** `code`: of the job error. */
export function countStoreError(env: Env, side: 'input' | 'output', code: string): void {
  countInIsolate(env, 'stores', (totals) => totals.add('store_errors_total', { side, code }))
}
