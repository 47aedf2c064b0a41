// In charge of: hostile sources and names in the real service (I13, I14): every job ends with a stable code and within
// bounds of time and memory, and reports what is wrong with its source; only the job's own addresses are requested and
// only its files read. `FUZZ_RUNS=<n>` and `FUZZ_SEED=<n>` (`npm run long fuzz-media`) add more mutated files and others.
// Not in charge of: addresses in the fields of a job (test/worker/storage/ssrf.test.ts).
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJobErrorCode } from '#contract/errorCodes.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { childrenOf } from '../../../../scripts/local/processes/processGroup.ts'
import { LONG_FORM, sampled } from '../../../support/longForm.ts'
import { ffmpeg, makeClip, tempDirectory } from '../../../support/media/media.ts'
import {
  makeHugeFrameImage,
  mutateBytes,
  seededRandom,
  inflatedHeaderInputs,
  textInputs,
} from '../../../support/media/hostileInputs.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import { decode, detectDamage } from './decodedComparison.ts'
import { WebSite } from '../../../support/http/webSite.ts'

const CANARY = 'HOSTILE-CANARY-CONTENT-7f3a'
const runs = Number(process.env['FUZZ_RUNS'] ?? (LONG_FORM ? '6' : '1'))
const seed = Number(process.env['FUZZ_SEED'] ?? '20261')
/** Of one ffmpeg or ffprobe; a job of 320 × 180 takes about 100 MiB. */
const MOST_RESIDENT_KIB = 1536 * 1024
const JOB_MS = 300_000
const DAMAGE = new Set(['decode_errors', 'frames_concealed', 'audio_gaps_filled'])
const SOUND = { audio_codec: 'aac', audio_channels: 2, audio_bitrate: 96, source_stream: 1, optional: true }
const codecs: Record<string, string[]> = {
  mp4: [],
  ts: [],
  mkv: [],
  flv: [],
  avi: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame'],
  mxf: ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-ar', '48000'],
  ogv: ['-c:v', 'libtheora', '-c:a', 'libvorbis'],
}

let service: Service
let site: WebSite
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let trap: Server
let hits = 0
let resident = 0
let watch: NodeJS.Timeout
const clips = new Map<string, Buffer>()

beforeAll(async () => {
  tempDir = await tempDirectory()
  await writeFile(tempDir.file('canary.txt'), CANARY.repeat(100))
  trap = createServer((socket) => {
    hits++
    socket.destroy()
  })
  trap.listen(0, '127.0.0.1')
  await once(trap, 'listening')
  for (const [extension, flags] of Object.entries(codecs)) {
    const clip = await makeClip(tempDir.file(`clip.${extension}`), { seconds: 1, width: 160, height: 90, flags })
    clips.set(extension, await readFile(clip))
  }
  site = await WebSite.start()
  service = await Service.start({ ALLOW_PRIVATE_HOSTS: site.host })
  watch = setInterval(() => {
    for (const { pid } of childrenOf(service.transcoder()!.pid)) {
      try {
        const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
        resident = Math.max(resident, Number(peak ?? 0))
      } catch {
        // It ended meanwhile.
      }
    }
  }, 25)
})
afterAll(async () => {
  clearInterval(watch)
  await service?.[Symbol.asyncDispose]()
  await site?.[Symbol.asyncDispose]()
  await new Promise<void>((resolve) => trap.close(() => resolve()))
  await tempDir?.[Symbol.asyncDispose]()
})

/** Runs a job for each file and returns how it ended, after the checks that apply to all of them. */
async function outcomes(
  files: Iterable<[name: string, bytes: Buffer]>,
  audioProfiles: object[] = [],
): Promise<Map<string, PublicStatus>> {
  const ids = new Map<string, number>()
  for (const [name, bytes] of files) {
    const path = `/${ids.size}-${hits}/film.mp4`
    site.files.set(path, bytes)
    ids.set(name, await service.create(jobRequest(site.url + path, 'http', { audioProfiles })))
  }
  const ended = new Map<string, PublicStatus>()
  for (const [name, id] of ids) {
    const status = await service.waitForEnd(id, JOB_MS)
    ended.set(name, status)
    const { state, error } = status
    expect(['ready', 'error'], name).toContain(state)
    if (error !== null) {
      expect(isJobErrorCode(error.code), `${name}: ${error.code}`).toBe(true)
      expect(error.code, `${name}: ${error.message}`).not.toBe('internal')
    }
    for (const { url } of status.outputs) {
      const text = Buffer.from(await (await fetch(url!)).arrayBuffer()).toString('latin1')
      expect(text.includes(CANARY), name).toBe(false)
    }
  }
  expect(hits).toBe(0)
  expect(resident).toBeLessThan(MOST_RESIDENT_KIB)
  await waitFor('the scratch space to be empty', async () => (await service.workDirEntries()).length === 0)
  return ended
}

const codesOf = (ended: Map<string, PublicStatus>): Record<string, string> =>
  Object.fromEntries([...ended].map(([name, { error, state }]) => [name, error?.code ?? state]))

test('lists and texts named .mp4 are no media, and what they name is not opened', { timeout: 300_000 }, async () => {
  const target = { url: `http://127.0.0.1:${(trap.address() as AddressInfo).port}`, file: tempDir.file('canary.txt') }
  const texts = textInputs(target)
  const ended = await outcomes(texts.map(([name, text]) => [name, Buffer.from(text)]))
  for (const [name, code] of Object.entries(codesOf(ended))) {
    // Not found: a plain path in a playlist is relative to the playlist's own address.
    expect(
      ['source_not_media', 'source_address_refused', 'source_not_found', 'source_unreachable'],
      `${name}: ${code}`,
    ).toContain(code)
  }
})

test('headers that ask for the world, and codecs that are not on the list', { timeout: 300_000 }, async () => {
  const magic: [string, Buffer][] = []
  for (const extension of ['avi', 'mkv']) {
    const path = tempDir.file(`magic.${extension}`)
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=64x64:d=0.4', '-c:v', 'magicyuv', path])
    magic.push([`MagicYUV in ${extension}`, await readFile(path)])
  }
  const huge = await makeHugeFrameImage(tempDir.file('huge.avi'))
  const codes = codesOf(
    await outcomes([...inflatedHeaderInputs(clips.get('mp4')!), ...magic, ['MJPEG of 16000 by 16000', huge]]),
  )
  for (const name of ['MagicYUV in avi', 'MagicYUV in mkv', 'MJPEG of 16000 by 16000']) {
    expect(codes[name], JSON.stringify(codes)).not.toBe('ready')
  }
})

test(`files of every container, cut in the middle and mutated (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const next = seededRandom(seed)
  const kinds = sampled([...clips], 4)
  const files: [string, Buffer][] = kinds.map(([extension, bytes]) => [
    `half of a ${extension}`,
    bytes.subarray(0, bytes.length >> 1),
  ])
  for (let n = 0; n < runs; n++) {
    const [extension, bytes] = kinds[n % kinds.length]!
    files.push([`mutated ${extension}, number ${n} of seed ${seed}`, mutateBytes(bytes, next)])
  }
  const ended = await outcomes(files, [SOUND])
  expect(ended.size).toBe(files.length)
  const counts: Record<string, number> = {}
  const silent: string[] = []
  for (const [index, [name, bytes]] of files.entries()) {
    const { error, warnings } = ended.get(name)!
    const isTold = error !== null || warnings.some(({ code }) => DAMAGE.has(code))
    const outcome = isTold
      ? error === null
        ? 'warned'
        : error.code
      : await unsaid(bytes, kinds[index % kinds.length]![0])
    counts[outcome] = (counts[outcome] ?? 0) + 1
    if (outcome.startsWith('silent')) silent.push(`${name}: ${outcome}`)
  }
  console.info(`seed ${seed}, ${files.length} files: ${JSON.stringify(counts)}`)
  expect(silent).toEqual([])
})

/** For a job that succeeded and reported no damage. */
async function unsaid(bytes: Buffer, extension: string): Promise<string> {
  const path = tempDir.file(`judged.${extension}`)
  await writeFile(path, bytes)
  const { notice, complaint } = await detectDamage(path, await decode(tempDir.file(`clip.${extension}`)))
  return notice === 'noticed' ? `silent about ${complaint.slice(0, 300)}` : notice
}

test(
  'names that look like options, paths, patterns and filters are refused or used literally',
  { timeout: 300_000 },
  async () => {
    const input = await service.upload(tempDir.file('clip.mp4'))
    const names = [
      '[v]movie=x[o].mp4',
      '-i /etc/passwd',
      '../../x.mp4',
      '%n%s%05d.mp4',
      ';id;.mp4',
      'a\nb.mp4',
      'x,drawtext=textfile=x.mp4',
      'pipe:1',
      'file:x.mp4',
      "a'b|c.mp4",
    ]
    const enums = [
      'video_codec',
      'video_aspect_ratio',
      'picture_transform',
      'video_format',
      'logo_position',
      'closed_captions',
      'output_container',
    ]
    const fields = (name: string): [string, object][] => [
      ['output', { videoProfiles: [{ output: name, width: 160, height: 90, video_bitrate: 150 }] }],
      ['bucket_output_path', { bucket_output_path: name }],
      ...(name.startsWith('[v]') ? enums.map((field): [string, object] => [field, { [field]: name }]) : []),
    ]
    const started = new Map<string, number>()
    for (const [field, change] of sampled(names, 4).flatMap(fields)) {
      const body = jobRequest(input, 'file-upload', { audioProfiles: [], ...change })
      const headers = { 'content-type': 'application/json' }
      const response = await service.call('/api/v0/job', { method: 'POST', headers, body: JSON.stringify(body) })
      const answer = (await response.json()) as { _auto_generated_id_?: number }
      expect([200, 400]).toContain(response.status)
      if (answer._auto_generated_id_) started.set(`${field} ${JSON.stringify(change)}`, answer._auto_generated_id_)
    }
    for (const [name, id] of started) {
      const status = await service.waitForEnd(id, JOB_MS)
      expect(status.error, name).toBeNull()
      for (const { path } of status.outputs) expect(path.split('/'), name).not.toContain('..')
    }
    expect(hits).toBe(0)
  },
)
