// In charge of: recording what the command created at the service and removing it: jobs are cancelled and deleted with
// their outputs, uploads are deleted.
import { setTimeout as pause } from 'node:timers/promises'
import type { Check } from '#contract/api/diagnosis.ts'
import type { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import { fault, ok, errorText } from './checkResult.ts'

const TRIES = 60
const PAUSE_MS = 500

export class CreatedResources {
  readonly #jobs = new Set<number>()
  readonly #uploads = new Set<number>()
  /** Other resources: each function removes one. */
  readonly #cleanups: (() => Promise<void>)[] = []

  addJob(id: number): void {
    this.#jobs.add(id)
  }

  addUpload(number: number): void {
    this.#uploads.add(number)
  }

  addCleanup(remove: () => Promise<void>): void {
    this.#cleanups.push(remove)
  }

  /** @param client without an abort signal, so that the removal is not interrupted */
  async removeAll(client: Client): Promise<Check> {
    const left: string[] = []
    const attempt = async (what: string, remove: () => Promise<void>): Promise<void> => {
      await remove().catch((error: unknown) => left.push(`${what}: ${errorText(error)}`))
    }
    for (const id of this.#jobs) await attempt(`job ${id}`, () => removeJob(client, id))
    for (const number of this.#uploads) await attempt(`upload ${number}`, () => removeUpload(client, number))
    for (const remove of this.#cleanups) await attempt('an object', remove)
    const total = this.#jobs.size + this.#uploads.size + this.#cleanups.length
    return left.length > 0
      ? fault(
          'removed',
          `Not removed: ${left.join('; ')}`,
          'Use npx splicepoint cancel, delete and uploads delete; delete objects in stores by hand.',
        )
      : ok('removed', `All ${total} jobs, uploads and objects were removed.`)
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof ServiceError && (error.status === 404 || error.status === 410)

async function removeJob(client: Client, id: number): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      await client.delete(id)
      break
    } catch (error) {
      if (isGone(error)) return
      if (!(error instanceof ServiceError && error.code === 'job_active') || left === 0) throw error
      // The job is still running, or being cancelled.
      await client.cancel(id).catch(() => undefined)
      await pause(PAUSE_MS)
    }
  }
  const there = await client.read(id).then(
    () => true,
    (error: unknown) => !isGone(error),
  )
  if (there) throw new Error('it can still be read')
}

async function removeUpload(client: Client, number: number): Promise<void> {
  await client.deleteUpload(number).catch((error: unknown) => {
    if (!isGone(error)) throw error
  })
}
