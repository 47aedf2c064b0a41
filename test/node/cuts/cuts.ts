// In charge of: sources that end too early, at any byte, through a whole attempt with the real ffmpeg; whether a success lacks media.
// Not in charge of: which bytes (cuts.test.ts, main.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runTask } from '../../../transcoder/run.ts'
import { ffmpeg } from '../media.ts'
import { FakeDoor } from '../transcoder/fake-door.ts'
import { describeTask, openBench, requestFor, type Bench } from '../transcoder/task-fixture.ts'

export const FORMS = ['ts', 'mp4', 'mkv', 'hls'] as const
export type Form = (typeof FORMS)[number]
/** broken off: the server promised all of it. stored: the file itself ends there, and nobody says that there was more. */
export const WAYS = ['broken off', 'stored'] as const
export type Way = (typeof WAYS)[number]

export interface Outcome {
  form: Form
  way: Way
  /** Bytes that were there. */
  offset: number
  /** The code of the error; null = success. */
  code: string | null
  /** What a success lacks: empty = nothing. */
  missing: string[]
}

/** What one sees and hears: pictures that differ from the one before, and seconds that are not silent. */
interface Heard {
  pictures: number
  seconds: number
}

const SECONDS = 4
const SEGMENT_SECONDS = 1
/** A picture, and what a sound's encoder needs to come up and go down. */
const TOLERANCE = { pictures: 1, seconds: 0.1 }

export class Cuts {
  readonly #bench: Bench
  readonly #sources: Record<Form, Buffer>
  readonly #segments: Buffer[]
  readonly #whole: Heard
  #made = 0

  private constructor(bench: Bench, sources: Record<Form, Buffer>, segments: Buffer[], whole: Heard) {
    this.#bench = bench
    this.#sources = sources
    this.#segments = segments
    this.#whole = whole
  }

  static async open(): Promise<Cuts> {
    const bench = await openBench()
    const path = (name: string) => join(bench.directory, name)
    const all = path('all.mkv')
    // Flat pictures, each far from the one before, so that one byte tells them apart; a tone that never pauses.
    await ffmpeg([
      ...['-f', 'lavfi', '-i', `color=s=160x90:r=25:d=${SECONDS},geq=lum='30+mod(N*67,190)':cb=128:cr=128`],
      ...['-f', 'lavfi', '-i', `sine=f=440:r=48000:d=${SECONDS}`, '-af', 'volume=12dB'],
      ...[
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-g',
        '25',
        '-pix_fmt',
        'yuv420p',
        '-c:a',
        'aac',
        '-b:a',
        '96k',
        all,
      ],
    ])
    const copy = (name: string, ...flags: string[]) => ffmpeg(['-i', all, '-c', 'copy', ...flags, path(name)])
    await copy('ts.ts')
    await copy('mp4.mp4', '-movflags', '+faststart')
    await copy('mkv.mkv')
    await copy('hls.m3u8', '-f', 'hls', '-hls_time', `${SEGMENT_SECONDS}`, '-hls_playlist_type', 'vod')
    const segments = await Promise.all(
      Array.from({ length: SECONDS / SEGMENT_SECONDS }, (_, n) => readFile(path(`hls${n}.ts`))),
    )
    const [ts, mp4, mkv] = await Promise.all(['ts.ts', 'mp4.mp4', 'mkv.mkv'].map((name) => readFile(path(name))))
    const sources = { ts: ts!, mp4: mp4!, mkv: mkv!, hls: Buffer.concat(segments) }
    return new Cuts(bench, sources, segments, await hear(all))
  }

  size(form: Form): number {
    return this.#sources[form].length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bench.remove()
  }

  async run(form: Form, way: Way, offset: number): Promise<Outcome> {
    const door = await new FakeDoor({ bytes: this.#sources[form] }).start()
    try {
      door.task = describeTask({ container: 'mp4', bitrates: [300] })
      if (form === 'hls') this.#cutSegments(door, way, offset)
      else this.#cutFile(door, form, way, offset)
      const context = this.#bench.context()
      await runTask(requestFor(door), { ...context, source: { backoff: { baseMs: 1, maxMs: 5 }, giveUpMs: 50 } })
      const code = door.finished === null ? (door.fails[0]?.error?.code ?? door.fails[0]?.reason ?? 'nothing') : null
      const missing = door.finished === null ? [] : await this.#missing(door, form, way, offset)
      return { form, way, offset, code, missing }
    } finally {
      await door.stop()
    }
  }

  #cutFile(door: FakeDoor, form: Form, way: Way, offset: number): void {
    if (way === 'stored') door.source = { bytes: this.#sources[form].subarray(0, offset) }
    else
      door.faults.input = ({ request, response }) => {
        const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
        door.input(request, response, Math.max(0, offset - first))
        return true
      }
  }

  /** The offset is one within all segments: that segment is cut, those behind it are whole. */
  #cutSegments(door: FakeDoor, way: Way, offset: number): void {
    door.source = { bytes: Buffer.from('#EXTM3U\n') }
    door.task = { ...door.task!, input_name: 'film.m3u8' }
    const seconds = SEGMENT_SECONDS
    const described = this.#segments.map(() => ({ seconds, discontinuity: false, map: null, key: null, iv: null }))
    const tracks = [{ language: null, maps: [], segments: described }]
    const { n, at } = this.#place(offset)
    const segments = this.#segments.map((bytes, index) =>
      way === 'stored' && index === n ? bytes.subarray(0, at) : bytes,
    )
    door.hls = { description: { pin: 'p', ended: true, target_seconds: seconds, tracks }, segments }
    if (way === 'stored') return
    door.faults.piece = ({ request, response }) => {
      if (!request.url!.endsWith(`/${n}`)) return false
      const bytes = this.#segments[n]!
      response.writeHead(200, { 'content-length': String(bytes.length) })
      response.write(bytes.subarray(0, at), () => response.destroy())
      return true
    }
  }

  #place(offset: number): { n: number; at: number } {
    let at = offset
    for (const [n, { length }] of this.#segments.entries()) {
      if (at < length) return { n, at }
      at -= length
    }
    throw new RangeError(`${offset} is behind the last segment`)
  }

  async #missing(door: FakeDoor, form: Form, way: Way, offset: number): Promise<string[]> {
    const found = await hear(await this.#keep([...door.objects().values()][0]!, 'mp4'))
    // A transport stream has no word of its length: one that ends early is a shorter film, and all of that must be there.
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
  const [pictures, sound] = await Promise.all([look, listen].map((args) => ffmpeg(args).catch(() => Buffer.alloc(0))))
  const differing = [...pictures!].filter((level, n, all) => n === 0 || Math.abs(level - all[n - 1]!) > 15)
  let loud = 0
  for (let at = 0; at + 160 <= sound!.length; at += 160) {
    let peak = 0
    for (let sample = at; sample < at + 160; sample += 2) peak = Math.max(peak, Math.abs(sound!.readInt16LE(sample)))
    if (peak > 1000) loud++
  }
  return { pictures: differing.length, seconds: loud / 100 }
}
