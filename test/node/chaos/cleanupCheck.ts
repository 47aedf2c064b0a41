// In charge of: checking from outside that a job left nothing behind.
// Not in charge of: its outputs (outputCheck.ts).
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { PublicStatus } from '#contract/api/status.ts'
import { waitFor, type Service } from '../../support/service.ts'

const OPEN_UPLOADS = 'SELECT key FROM _mf_multipart_uploads WHERE state = 0'
const OBJECTS = 'SELECT key FROM _mf_objects'

/**
 * No ffmpeg, no scratch file, no open upload in the service's own store, no record, within the promised time (I8: five
 * minutes).
 * @returns a sentence for each that still exists after `ms`
 */
export async function findUncleaned(service: Service, jobIds: readonly string[], ms: number): Promise<string[]> {
  const wrong: string[] = []
  const soon = async (what: string, ask: () => boolean | Promise<boolean>): Promise<void> => {
    // Files of a live database come and go, and it may be locked for a moment: a single failure proves nothing.
    let trouble: string | null = null
    const isGone = async (): Promise<boolean> => {
      try {
        trouble = null
        return await ask()
      } catch (error) {
        trouble = String(error)
        return false
      }
    }
    await waitFor(what, isGone, ms).catch(() =>
      wrong.push(trouble === null ? `still there: ${what}` : `${what} cannot be looked for: ${trouble}`),
    )
  }
  await soon('an encoder', () => service.encoders().length === 0)
  await soon('a scratch file', async () => (await service.workDirEntries()).length === 0)
  await soon('an open upload', async () => (await rows(service, OPEN_UPLOADS)).length === 0)
  await soon('a record', async () => {
    const keys = await rows(service, OBJECTS)
    return !keys.some((key) => jobIds.some((jobId) => key.startsWith(`work/${jobId}`)))
  })
  return wrong
}

/** Objects of a segmented job in the service's own store that its report does not list. */
export async function findUnlisted(service: Service, { job_id: jobId, outputs }: PublicStatus): Promise<string[]> {
  const report = outputs.find(({ path }) => path.endsWith('/job.json'))
  const { objects } = (await (await fetch(report?.url ?? '')).json()) as { objects: { path: string }[] }
  const listed = new Set([...objects, ...outputs].map(({ path }) => path))
  const kept = (await rows(service, OBJECTS)).filter((key) => key.startsWith('out/') && key.includes(`/${jobId}/`))
  if (kept.length < listed.size) return [`${kept.length} objects are there, ${listed.size} are listed`]
  const unlisted = kept.filter((key) => !listed.has(key.slice(key.indexOf(jobId) + jobId.length + 1)))
  return unlisted.map((key) => `${key} is there and not listed`)
}

/** The tables in which the local R2 keeps its objects on disk. */
async function rows(service: Service, sql: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir(service.stateDir, { recursive: true })) {
    if (!/\br2\b.*\.sqlite$/.test(name) || name.includes('metadata')) continue
    const db = new DatabaseSync(join(service.stateDir, name), { readOnly: true })
    try {
      found.push(
        ...db
          .prepare(sql)
          .all()
          .map((row) => String(row['key'])),
      )
    } finally {
      db.close()
    }
  }
  return found
}
