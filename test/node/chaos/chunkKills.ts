// In charge of: a divided job whose transcoders are killed again and again, and the checks afterwards: the same bytes as
// undisturbed, no more work than the kills cost, nothing left behind.
// Not in charge of: kills at one place of a job that is not divided (processKills.ts), what is printed (main.ts).
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as pause } from 'node:timers/promises'
import type { PublicStatus } from '#contract/api/status.ts'
import { decodePresentation, type DecodedPlaylist } from '../../support/manifests/decodedPresentation.ts'
import { makeClip, tempDirectory } from '../../support/media/media.ts'
import { Random } from '../../support/seededRandom.ts'
import { jobRequest, Service, waitFor } from '../../support/service.ts'
import { findUncleaned } from './cleanupCheck.ts'

const SECONDS = 120
const CHUNK_SECONDS = 10
/** From one kill to the next, in lengths of a chunk. */
const INTERVAL = 1.5
const REMAINS_MS = 60_000
const JOB_MS = 30 * 60_000

export interface ChunkKillResult {
  seed: number
  kills: Record<string, number>
  /** Attempts at parts beyond the first one of each. */
  repeated: number
  seconds: number
  undisturbedSeconds: number
  wrong: string[]
}

export class ChunkKillBench {
  readonly #service: Service
  readonly #space: Awaited<ReturnType<typeof tempDirectory>>
  readonly #input: string
  #undisturbed: { outputs: Record<string, DecodedPlaylist>; seconds: number; parts: number } | null = null

  private constructor(service: Service, space: Awaited<ReturnType<typeof tempDirectory>>, input: string) {
    this.#service = service
    this.#space = space
    this.#input = input
  }

  static async open(): Promise<ChunkKillBench> {
    const space = await tempDirectory()
    const clip = await makeClip(space.file('clip.mp4'), { seconds: SECONDS })
    const service = await Service.start({ TRANSCODERS: '2' })
    return new ChunkKillBench(service, space, await service.upload(clip))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    await this.#space[Symbol.asyncDispose]()
  }

  async run(seed: number): Promise<ChunkKillResult> {
    this.#undisturbed ??= await this.#runUndisturbed()
    const undisturbed = this.#undisturbed
    const random = new Random(seed)
    const began = performance.now()
    const id = await this.#service.create(this.#job())
    const kills: Record<string, number> = {}
    // Two transcoders: the length of one chunk is twice its share of the wall time.
    const intervalMs = (INTERVAL * 2 * undisturbed.seconds * 1000) / undisturbed.parts
    for (;;) {
      await pause(intervalMs)
      const status = await this.#service.status(id)
      if (status?.job_completed === true) break
      const fault = random.chance(0.1) ? 'SIGKILL runtime' : random.chance(0.2) ? 'SIGTERM' : 'SIGKILL'
      if (status?.chunks != null && this.#strike(fault, random)) kills[fault] = (kills[fault] ?? 0) + 1
      await waitFor('the service to serve', () => this.#service.isServing())
    }
    const status = await this.#service.waitForEnd(id, JOB_MS)
    const seconds = (performance.now() - began) / 1000
    const wrong = await this.#check(status, undisturbed.outputs)
    const repeated = await this.#repeatedAttempts(status.job_id)
    const total = Object.values(kills).reduce((sum, count) => sum + count, 0)
    // A killed runtime interrupts both transcoders.
    if (repeated > total + (kills['SIGKILL runtime'] ?? 0))
      wrong.push(`${repeated} attempts were repeated for ${total} kills`)
    if (total === 0) wrong.push('nothing was killed')
    return { seed, kills, repeated, seconds, undisturbedSeconds: undisturbed.seconds, wrong }
  }

  #job(): object {
    return jobRequest(this.#input, 'file-upload', {
      bucket_output_path: 'show',
      segment_length: 2,
      gop_length: 1,
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      max_chunk_seconds: CHUNK_SECONDS,
      videoProfiles: [
        // One quality, so that nothing is sampled, and the bytes do not depend on what was encoded before.
        { output: '', width: 1280, height: 720, video_bitrate: 3000, video_bitrate_mode: 'qvbr' },
        { output: 'low', width: 320, height: 180, video_bitrate: 400, video_bitrate_mode: 'qvbr' },
      ],
    })
  }

  async #runUndisturbed() {
    const began = performance.now()
    const status = await this.#service.waitForEnd(await this.#service.create(this.#job()), JOB_MS)
    const seconds = (performance.now() - began) / 1000
    if (status.state !== 'ready') throw new Error(`the undisturbed job ended ${JSON.stringify(status.error)}`)
    const outputs = await decodePresentation(status, (name) => this.#space.file(name))
    return { outputs, seconds, parts: status.chunks?.total ?? 1 }
  }

  #strike(fault: string, random: Random): boolean {
    const transcoders = this.#service.transcoders()
    const victim =
      fault === 'SIGKILL runtime' ? this.#service.runtime() : transcoders[random.whole(0, transcoders.length - 1)]
    if (victim == null) return false
    process.kill(victim.pid, fault === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
    return true
  }

  async #check(status: PublicStatus, expected: Record<string, DecodedPlaylist>): Promise<string[]> {
    if (status.state !== 'ready') return [`it ended ${status.state}: ${JSON.stringify(status.error)}`]
    const wrong: string[] = []
    const outputs = await decodePresentation(status, (name) => this.#space.file(name))
    for (const [path, playlist] of Object.entries(expected)) {
      for (const member of ['frames', 'times', 'samples', 'segments'] as const)
        if (!isDeepStrictEqual(outputs[path]?.[member], playlist[member])) wrong.push(`${path}: other ${member}`)
    }
    return [...wrong, ...(await findUncleaned(this.#service, [status.job_id], REMAINS_MS))]
  }

  async #repeatedAttempts(jobId: string): Promise<number> {
    for (const name of await readdir(this.#service.stateDir, { recursive: true })) {
      if (!/\bd1\b.*\.sqlite$/.test(name) || name.includes('metadata')) continue
      const db = new DatabaseSync(join(this.#service.stateDir, name), { readOnly: true })
      try {
        const sql = `SELECT SUM(attempt - starts_failed_total - 1) AS n FROM tasks WHERE id LIKE ? AND kind = 'part'`
        return Number(db.prepare(sql).get(`${jobId}-%`)?.['n'])
      } finally {
        db.close()
      }
    }
    throw new Error('there is no database')
  }
}
