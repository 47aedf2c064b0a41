// In charge of: sources that are truncated at any byte, in a whole attempt with the real ffmpeg; whether a successful
// job lacks media.
// Not in charge of: which bytes (truncation.test.ts, main.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkMp4 } from '../../../transcoder/mp4FileCheck.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import { ffmpeg } from '../../support/media/media.ts'
import { FakeTaskApi } from '../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  openAttemptFixture,
  runRequest,
  type AttemptFixture,
} from '../../support/transcoder/attemptFixture.ts'

/** hls: transport stream segments. fmp4: the same presentation in segments of several fragments. */
export const SOURCE_FORMATS = ['ts', 'mp4', 'mkv', 'hls', 'fmp4'] as const
export type SourceFormat = (typeof SOURCE_FORMATS)[number]
/**
 * broken off: the server announced the complete length. stored: the file itself ends there, without any sign of more.
 */
export const TRUNCATION_MODES = ['broken off', 'stored'] as const
export type TruncationMode = (typeof TRUNCATION_MODES)[number]

export interface TruncationResult {
  form: SourceFormat
  way: TruncationMode
  /** Number of available bytes. */
  offset: number
  /** The code of the error; null = success. */
  code: string | null
  /** What a successful job lacks: empty = nothing. */
  missing: string[]
}

/** Visible and audible content: frames that differ from the previous one, and seconds that are not silent. */
interface Heard {
  pictures: number
  seconds: number
}

const SECONDS = 4
const SEGMENT_SECONDS = 1
/** Number of fragments in a segment of fmp4. */
const FRAGMENTS = 5
const PACKET_BYTES = 188
/** One frame, and the time that an audio encoder needs to fade in and out. */
const TOLERANCE = { pictures: 1, seconds: 0.1 }

/** A resource of an HLS source, and the end of its address on the task API. */
interface Piece {
  name: string
  bytes: Buffer
}

export class TruncationTest {
  readonly #bench: AttemptFixture
  readonly #sources: Record<SourceFormat, Buffer>
  readonly #pieces: Record<'hls' | 'fmp4', Piece[]>
  readonly #whole: Heard
  #made = 0

  private constructor(
    bench: AttemptFixture,
    sources: Record<SourceFormat, Buffer>,
    pieces: Record<'hls' | 'fmp4', Piece[]>,
    whole: Heard,
  ) {
    this.#bench = bench
    this.#sources = sources
    this.#pieces = pieces
    this.#whole = whole
  }

  static async open(): Promise<TruncationTest> {
    const fixtures = await openAttemptFixture()
    const path = (name: string) => join(fixtures.directory, name)
    const all = path('all.mkv')
    // Flat frames, each very different from the previous one, so that one byte identifies them; a tone without pauses.
    await ffmpeg([
      ...['-f', 'lavfi', '-i', `color=s=160x90:r=25:d=${SECONDS},geq=lum='30+mod(N*67,190)':cb=128:cr=128`],
      ...['-f', 'lavfi', '-i', `sine=f=440:r=48000:d=${SECONDS}`, '-af', 'volume=12dB'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-pix_fmt', 'yuv420p'],
      ...['-c:a', 'aac', '-b:a', '96k', all],
    ])
    const copy = (name: string, ...flags: string[]) => ffmpeg(['-i', all, '-c', 'copy', ...flags, path(name)])
    await copy('ts.ts')
    await copy('mp4.mp4', '-movflags', '+faststart')
    await copy('mkv.mkv')
    await copy('hls.m3u8', '-f', 'hls', '-hls_time', `${SEGMENT_SECONDS}`, '-hls_playlist_type', 'vod')
    const segments = await Promise.all(
      Array.from({ length: SECONDS / SEGMENT_SECONDS }, (_, n) => readFile(path(`hls${n}.ts`))),
    )
    await copy('fmp4.mp4', '-movflags', '+empty_moov+default_base_moof', '-frag_duration', `${1e6 / FRAGMENTS}`)
    const pieces = {
      hls: segments.map((bytes, n) => ({ name: `segments/${n}`, bytes })),
      fmp4: await fragments(path('fmp4.mp4')),
    }
    const [ts, mp4, mkv] = await Promise.all(['ts.ts', 'mp4.mp4', 'mkv.mkv'].map((name) => readFile(path(name))))
    const sources = { ts: ts!, mp4: mp4!, mkv: mkv!, hls: joined(pieces.hls), fmp4: joined(pieces.fmp4) }
    const whole = await hear(all)
    // If the whole source does not decode completely, missing parts could not be detected.
    if (whole.pictures < SECONDS * 25 - 1 || whole.seconds < SECONDS - 0.1)
      throw new Error(`only ${whole.pictures} pictures and ${whole.seconds} s were found in the source itself`)
    return new TruncationTest(fixtures, sources, pieces, whole)
  }

  size(form: SourceFormat): number {
    return this.#sources[form].length
  }

  /**
   * The last position up to `offset` where only the media shows that something is missing: between two packets, or
   * fragments.
   */
  offsetRange(form: 'ts' | 'hls' | 'fmp4', offset: number): number {
    if (form !== 'fmp4') return Math.max(PACKET_BYTES, offset - (offset % PACKET_BYTES))
    const bytes = this.#sources.fmp4
    const first = bytes.indexOf('moof', 0, 'latin1') - 4
    const found = bytes.lastIndexOf('moof', offset, 'latin1') - 4
    return Math.max(first, found)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bench.remove()
  }

  async run(form: SourceFormat, way: TruncationMode, offset: number): Promise<TruncationResult> {
    const taskApi = await new FakeTaskApi({ bytes: this.#sources[form] }).start()
    try {
      taskApi.task = describeTask({ container: 'mp4', bitrates: [300] })
      if (form === 'hls' || form === 'fmp4') this.#cutPieces(taskApi, form, way, offset)
      else this.#cutFile(taskApi, form, way, offset)
      const context = this.#bench.context()
      await runTask(runRequest(taskApi), { ...context, source: { backoff: { baseMs: 1, maxMs: 5 }, retryForMs: 50 } })
      const code =
        taskApi.finished === null ? (taskApi.fails[0]?.error?.code ?? taskApi.fails[0]?.reason ?? 'nothing') : null
      const missing = taskApi.finished === null ? [] : await this.#missing(taskApi, form, way, offset)
      return { form, way, offset, code, missing }
    } finally {
      await taskApi.stop()
    }
  }

  #cutFile(taskApi: FakeTaskApi, form: SourceFormat, way: TruncationMode, offset: number): void {
    if (way === 'stored') taskApi.source = { bytes: this.#sources[form].subarray(0, offset) }
    else
      taskApi.faults.input = ({ request, response }) => {
        const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
        taskApi.input(request, response, Math.max(0, offset - first))
        return true
      }
  }

  /** The offset counts over all resources: the one that contains it is cut, those after it are whole. */
  #cutPieces(taskApi: FakeTaskApi, form: 'hls' | 'fmp4', way: TruncationMode, offset: number): void {
    taskApi.source = { bytes: Buffer.from('#EXTM3U\n') }
    taskApi.task = { ...taskApi.task!, input_name: 'film.m3u8' }
    const { piece, at } = this.#place(form, offset)
    const pieces = this.#pieces[form].map((whole) =>
      way === 'stored' && whole === piece ? { ...whole, bytes: whole.bytes.subarray(0, at) } : whole,
    )
    const init = pieces.find(({ name }) => name === INIT)?.bytes
    const segments = pieces.filter(({ name }) => name !== INIT).map(({ bytes }) => bytes)
    const map = init === undefined ? null : 0
    const described = segments.map(() => ({ seconds: SEGMENT_SECONDS, discontinuity: false, map, key: null, iv: null }))
    const maps = init === undefined ? [] : [{ key: null, iv: null }]
    const tracks = [{ language: null, maps, segments: described, integer_durations: Number.isInteger(SEGMENT_SECONDS) }]
    const description = { playlist_digest: 'p', ended: true, target_seconds: SEGMENT_SECONDS, tracks }
    taskApi.hls = { description, segments, ...(init === undefined ? {} : { init }) }
    if (way === 'stored') return
    taskApi.faults.piece = ({ request, response }) => {
      if (!request.url!.endsWith(piece.name)) return false
      response.writeHead(200, { 'content-length': String(piece.bytes.length) })
      response.write(piece.bytes.subarray(0, at), () => response.destroy())
      return true
    }
  }

  #place(form: 'hls' | 'fmp4', offset: number): { piece: Piece; at: number } {
    let at = offset
    for (const piece of this.#pieces[form]) {
      if (at < piece.bytes.length) return { piece, at }
      at -= piece.bytes.length
    }
    const piece = this.#pieces[form].at(-1)!
    return { piece, at: piece.bytes.length }
  }

  async #missing(taskApi: FakeTaskApi, form: SourceFormat, way: TruncationMode, offset: number): Promise<string[]> {
    const found = await hear(await this.#keep([...taskApi.objects().values()][0]!, 'mp4'))
    // A transport stream does not declare its length: a truncated one is a shorter video, and all of that must be in
    // the output.
    const shorter = form === 'ts' && way === 'stored'
    const wanted = shorter ? await hear(await this.#keep(this.#sources.ts.subarray(0, offset), 'ts')) : this.#whole
    return (['pictures', 'seconds'] as const).flatMap((what) =>
      found[what] >= wanted[what] - TOLERANCE[what] ? [] : [`${found[what]} of ${wanted[what]} ${what}`],
    )
  }

  async #keep(bytes: Buffer, extension: string): Promise<string> {
    const path = join(this.#bench.directory, `kept-${(this.#made += 1)}.${extension}`)
    await writeFile(path, bytes)
    return path
  }
}

const INIT = 'maps/0'

function joined(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map(({ bytes }) => bytes))
}

/** The initialisation section, and segments of that many fragments each. */
async function fragments(path: string): Promise<Piece[]> {
  const bytes = await readFile(path)
  const { boxes } = await checkMp4(path)
  const starts = boxes.filter(({ type }) => type === 'moof').map(({ offset }) => offset)
  const end = boxes.find(({ type }) => type === 'mfra')?.offset ?? bytes.length
  const edges = [...starts.filter((_, n) => n % FRAGMENTS === 0), end]
  const segments = edges
    .slice(0, -1)
    .map((from, n) => ({ name: `segments/${n}`, bytes: bytes.subarray(from, edges[n + 1]) }))
  if (segments.length !== SECONDS / SEGMENT_SECONDS) throw new Error(`${segments.length} segments were made`)
  return [{ name: INIT, bytes: bytes.subarray(0, starts[0]) }, ...segments]
}

async function hear(path: string): Promise<Heard> {
  const look = [
    '-i',
    path,
    '-map',
    '0:v',
    '-vf',
    'scale=1:1,format=gray',
    '-fps_mode',
    'passthrough',
    '-f',
    'rawvideo',
    '-',
  ]
  const listen = ['-i', path, '-map', '0:a', '-ac', '1', '-ar', '8000', '-f', 's16le', '-']
  const [pictures, audio] = await Promise.all([look, listen].map((args) => ffmpeg(args).catch(() => Buffer.alloc(0))))
  const differing = [...pictures!].filter((level, n, all) => n === 0 || Math.abs(level - all[n - 1]!) > 15)
  let loud = 0
  for (let at = 0; at + 160 <= audio!.length; at += 160) {
    let peak = 0
    for (let sample = at; sample < at + 160; sample += 2) peak = Math.max(peak, Math.abs(audio!.readInt16LE(sample)))
    if (peak > 1000) loud++
  }
  return { pictures: differing.length, seconds: loud / 100 }
}
