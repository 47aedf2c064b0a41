// In charge of: a divided job whose transcoders are killed again and again, and the checks afterwards: the same bytes as
// undisturbed (the same quality, of hevc), no more work than the kills cost, nothing left behind.
// Not in charge of: kills at one place of a job that is not divided (processKills.ts), what is printed (main.ts).
import { execFileSync } from 'node:child_process'
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
import { findUncleaned, findUnlisted } from './cleanupCheck.ts'
import { qualityDifferences, qualityOf, type PlaylistQuality } from './qualityCheck.ts'

export const CHUNK_CODECS = ['h.264', 'hevc'] as const
export type ChunkCodec = (typeof CHUNK_CODECS)[number]

/** hevc is smaller and shorter, because its encoder is slower. Its bytes differ between two runs, so its quality counts. */
const CLIPS: Record<ChunkCodec, { seconds: number; width: number; height: number; sameBytes: boolean }> = {
  'h.264': { seconds: 120, width: 1280, height: 720, sameBytes: true },
  hevc: { seconds: 90, width: 640, height: 360, sameBytes: false },
}
const RATE = 25
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
  parts: number
  /** Segments whose bytes are not those of the undisturbed run. */
  differing: number
  seconds: number
  undisturbedSeconds: number
  wrong: string[]
}

/** With several threads, the rate control of x264 follows their timing. What this process starts has the same core. */
function useOneCore(): void {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', '0', `${process.pid}`])
}

interface Undisturbed {
  outputs: Record<string, DecodedPlaylist>
  quality: Record<string, PlaylistQuality>
  seconds: number
  parts: number
}

export class ChunkKillBench {
  readonly #service: Service
  readonly #space: Awaited<ReturnType<typeof tempDirectory>>
  readonly #codec: ChunkCodec
  readonly #clip: string
  readonly #input: string
  #undisturbed: Undisturbed | null = null

  private constructor(
    fields: { service: Service; space: Awaited<ReturnType<typeof tempDirectory>> } & Record<'clip' | 'input', string>,
    codec: ChunkCodec,
  ) {
    this.#service = fields.service
    this.#space = fields.space
    this.#clip = fields.clip
    this.#input = fields.input
    this.#codec = codec
  }

  static async open(codec: ChunkCodec): Promise<ChunkKillBench> {
    if (CLIPS[codec].sameBytes) useOneCore()
    const space = await tempDirectory()
    const clip = await makeClip(space.file('clip.mp4'), { seconds: CLIPS[codec].seconds, rate: `${RATE}` })
    const service = await Service.start({ TRANSCODERS: '2' })
    return new ChunkKillBench({ service, space, clip, input: await service.upload(clip) }, codec)
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
    const { wrong, differing } = await this.#check(status, undisturbed)
    const repeated = await this.#repeatedAttempts(status.job_id)
    const total = Object.values(kills).reduce((sum, count) => sum + count, 0)
    // A killed runtime interrupts both transcoders.
    if (repeated > total + (kills['SIGKILL runtime'] ?? 0))
      wrong.push(`${repeated} attempts were repeated for ${total} kills`)
    if (total === 0) wrong.push('nothing was killed')
    const { parts } = undisturbed
    return { seed, kills, repeated, parts, differing, seconds, undisturbedSeconds: undisturbed.seconds, wrong }
  }

  #job(): object {
    const { width, height } = CLIPS[this.#codec]
    return jobRequest(this.#input, 'file-upload', {
      bucket_output_path: 'show',
      segment_length: 2,
      gop_length: 1,
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      max_chunk_seconds: CHUNK_SECONDS,
      video_codec: this.#codec,
      videoProfiles: [
        // One quality, so that nothing is sampled, and the bytes do not depend on what was encoded before.
        { output: '', width, height, video_bitrate: 3000, video_bitrate_mode: 'qvbr' },
        { output: 'low', width: 320, height: 180, video_bitrate: 400, video_bitrate_mode: 'qvbr' },
      ],
    })
  }

  async #runUndisturbed(): Promise<Undisturbed> {
    const began = performance.now()
    const status = await this.#service.waitForEnd(await this.#service.create(this.#job()), JOB_MS)
    const seconds = (performance.now() - began) / 1000
    if (status.state !== 'ready') throw new Error(`the undisturbed job ended ${JSON.stringify(status.error)}`)
    const outputs = await decodePresentation(status, (name) => this.#space.file(name))
    return { outputs, quality: await this.#quality(status), seconds, parts: status.chunks?.total ?? 1 }
  }

  async #quality(status: PublicStatus): Promise<Record<string, PlaylistQuality>> {
    if (CLIPS[this.#codec].sameBytes) return {}
    return qualityOf(status, { path: this.#clip, rate: RATE }, (name) => this.#space.file(name))
  }

  #strike(fault: string, random: Random): boolean {
    const transcoders = this.#service.transcoders()
    const victim =
      fault === 'SIGKILL runtime' ? this.#service.runtime() : transcoders[random.whole(0, transcoders.length - 1)]
    if (victim == null) return false
    process.kill(victim.pid, fault === 'SIGTERM' ? 'SIGTERM' : 'SIGKILL')
    return true
  }

  async #check(status: PublicStatus, expected: Undisturbed): Promise<Pick<ChunkKillResult, 'wrong' | 'differing'>> {
    if (status.state !== 'ready')
      return { wrong: [`it ended ${status.state}: ${JSON.stringify(status.error)}`], differing: 0 }
    const wrong: string[] = []
    let differing = 0
    const outputs = await decodePresentation(status, (name) => this.#space.file(name))
    for (const [path, playlist] of Object.entries(expected.outputs)) {
      const found = outputs[path]
      for (const member of ['frames', 'times', 'samples'] as const)
        if (!isDeepStrictEqual(found?.[member], playlist[member])) wrong.push(`${path}: other ${member}`)
      const others = playlist.segments.filter((digest, at) => digest !== found?.segments[at]).length
      differing += others
      if (found?.segments.length !== playlist.segments.length) wrong.push(`${path}: another number of segments`)
      if (CLIPS[this.#codec].sameBytes && others > 0) wrong.push(`${path}: other bytes of ${others} segments`)
    }
    wrong.push(...qualityDifferences(await this.#quality(status), expected.quality))
    wrong.push(...(await findUncleaned(this.#service, [status.job_id], REMAINS_MS)))
    wrong.push(...(await findUnlisted(this.#service, status)))
    return { wrong, differing }
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
