// In charge of: the Worker with additional bare routes, so that both run in one workerd over one database.
// Not in charge of: the product. `.mts`, because it is type-checked with a Worker's types (tsconfig.json in this
// folder).
import { validateJob } from '#contract/job/validateJob.ts'
import product from '../../worker/index.ts'
import { SECRETS_FIELD } from '../../worker/storage/jobStores.ts'
import { seal } from '../../worker/secrets/vault.ts'
import type { StartMessage } from '../../worker/scheduler/assignSlots.ts'

// The Worker's Durable Objects.
export * from '../../worker/index.ts'

const FAR = Date.UTC(2100, 0)

export default {
  ...product,
  fetch(request, env, context) {
    const { pathname } = new URL(request.url)
    const route = routes[pathname]
    return route === undefined ? product.fetch(request, env, context) : route(request, env)
  },
} satisfies ExportedHandler<Env, StartMessage>

const routes: Record<string, (request: Request, env: Env) => Promise<Response>> = {
  '/api/bare': async (request) => new Response(`ok ${(await request.text()).length}`),

  '/api/bare-d1-read': async (_request, env) =>
    Response.json(await env.DB.prepare('SELECT * FROM bare WHERE id = ?1').bind(1).first()),

  '/api/bare-d1-write': async (request, env) =>
    Response.json(
      await env.DB.prepare(INSERT)
        .bind(crypto.randomUUID(), await request.text(), Date.now())
        .first(),
    ),

  // Two statements, as for creating a job with its task.
  '/api/bare-d1-batch': async (request, env) => {
    const insert = env.DB.prepare(INSERT)
    const [first] = await env.DB.batch([
      insert.bind(crypto.randomUUID(), await request.text(), Date.now()),
      insert.bind(crypto.randomUUID(), '', Date.now()),
    ])
    return Response.json(first?.results[0])
  },

  // Validation of a job, without the database.
  '/api/bare-validate': async (request, env) => {
    const checked = validateJob(await request.json(), { baseUrl: new URL(request.url).origin })
    if (!checked.ok) return Response.json(checked.problems, { status: 400 })
    const sealed = await seal(env, 'bench', crypto.randomUUID(), SECRETS_FIELD, checked.secrets)
    return Response.json([checked.config, checked.warnings, sealed.length])
  },

  '/api/bare-jobs': async (_request, env) => {
    const { results } = await env.DB.prepare(
      'SELECT id, job_id, (SELECT COUNT(*) FROM tasks WHERE job = jobs.id) AS tasks FROM jobs',
    ).all()
    return Response.json(results)
  },

  /**
   * Creates bare rows of the size of a job's, occupies all slots so that nothing starts, and marks the job in the body
   * as finished with outputs.
   */
  '/api/bare-setup': async (request, env) => {
    const { job, outputs } = await request.json<{ job: number; outputs: string }>()
    await env.DB.batch([
      env.DB.prepare(
        'CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL)',
      ),
      env.DB.prepare(
        `INSERT INTO bare (name, body, at) SELECT job_id, config, created_at FROM jobs WHERE id = ?1`,
      ).bind(job),
      env.DB.prepare(`INSERT INTO slots (k, task, attempt, account, free_at) VALUES (0, NULL, NULL, NULL, ?1)
        ON CONFLICT (k) DO UPDATE SET task = NULL, free_at = ?1`).bind(FAR),
      env.DB.prepare(`UPDATE jobs SET state = 'completed', started_at = created_at, finished_at = created_at + 1000, outputs = ?2,
        progress = ?3 WHERE id = ?1`).bind(job, outputs, PROGRESS),
      env.DB.prepare(`UPDATE tasks SET state = 'completed', attempt = 1, slot = NULL WHERE job = ?1`).bind(job),
    ])
    return new Response('ok')
  },
}

const INSERT = 'INSERT INTO bare (name, body, at) VALUES (?1, ?2, ?3) RETURNING id'

const PROGRESS = JSON.stringify({
  phase: 'uploading',
  transcoded: 1,
  transcode_seconds: 12,
  speed: 2.5,
  bytes_produced: 32_000_000,
  bytes_stored: 32_000_000,
  transfer_seconds: 4,
  eta_seconds: 0,
})
