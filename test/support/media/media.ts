// In charge of: clips for tests (made by ffmpeg itself), and inspecting outputs by probing and decoding.
// Not in charge of: expectations.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import { bundledFfprobe, locateEngine, type Engine } from '../../../transcoder/ffmpeg/locate.ts'
import { sandboxEnvironment } from '../../../transcoder/ffmpeg/sandbox.ts'
import { skipTest } from '../requirement.ts'
import { sharedFile } from '../sharedFiles.ts'

const run = promisify(execFile)
const MAX_OUTPUT = 256 * 1024 * 1024

let located: Promise<Engine> | undefined
/** The ffmpeg of this machine, located once per run. */
export function testFfmpeg(): Promise<Engine> {
  located ??= locateShared()
  return located
}

async function locateShared(): Promise<Engine> {
  const { FFMPEG_PATH, FFPROBE_PATH, PATH } = process.env
  const record = await sharedFile(['engine', FFMPEG_PATH, FFPROBE_PATH, PATH], 'json', async (path) =>
    writeFile(path, JSON.stringify(await locateEngine(process.env))),
  )
  return record === null ? locateEngine(process.env) : (JSON.parse(await readFile(record, 'utf8')) as Engine)
}

/** A new temporary directory; `await using` removes it. */
export async function tempDirectory(): Promise<{ path: string; file: (name: string) => string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'splicepoint-'))
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** ffmpeg's flags for these filter graphs as inputs. */
export const lavfi = (...graphs: string[]): string[] => graphs.flatMap((graph) => ['-f', 'lavfi', '-i', graph])

/** Runs ffmpeg without a sandbox; rejects on a non-zero exit. Returns stdout as bytes. */
export async function ffmpeg(args: readonly string[]): Promise<Buffer> {
  const { ffmpeg: program } = await testFfmpeg()
  const { stdout } = await run(program, ['-nostdin', '-v', 'error', '-y', ...args], {
    encoding: 'buffer',
    maxBuffer: MAX_OUTPUT,
    env: sandboxEnvironment(),
  })
  return stdout
}

export interface ClipOptions {
  width?: number
  height?: number
  rate?: string
  seconds?: number
  /** A lavfi source without size, rate and duration. */
  picture?: string
  /** Filters after the video source. */
  filters?: string
  /** Number of channels of each audio stream; each stream has a different tone. */
  audio?: readonly (1 | 2 | 6)[]
  /** Flags of the encoders and the muxer, placed before the path. */
  flags?: readonly string[]
}

const layouts = { 1: 'mono', 2: 'stereo', 6: '5.1' } as const

/** A small clip with moving video and tones, made once per run. The container follows the file name. */
export async function makeClip(path: string, options: ClipOptions = {}): Promise<string> {
  const { ffmpeg: program } = await testFfmpeg()
  const shared = await sharedFile([program, options], extname(path).slice(1), (made) => encodeClip(made, options))
  if (shared === null) await encodeClip(path, options)
  else await copyFile(shared, path)
  return path
}

async function encodeClip(path: string, options: ClipOptions): Promise<void> {
  const {
    width = 320,
    height = 180,
    rate = '25',
    seconds = 4,
    picture: videoSource = 'testsrc2',
    audio = [2],
    flags = [],
  } = options
  const separator = videoSource.includes('=') ? ':' : '='
  const tones = audio.flatMap((channels, index) => [
    ...['-f', 'lavfi', '-i'],
    `sine=f=${440 * (index + 1)}:r=48000:d=${seconds},aformat=channel_layouts=${layouts[channels]}`,
  ])
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `${videoSource}${separator}s=${width}x${height}:r=${rate}:d=${seconds}`],
    ...tones,
    ...['-map', '0:v', ...audio.flatMap((_channels, index) => ['-map', `${index + 1}:a`])],
    ...(options.filters === undefined ? [] : ['-vf', options.filters]),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-b:a', '96k'],
    ...flags,
    path,
  ])
}

export interface ProbedStream {
  codec_type: string
  codec_name: string
  codec_tag_string: string
  width: number
  height: number
  profile: string
  sample_aspect_ratio: string
  display_aspect_ratio: string
  r_frame_rate: string
  avg_frame_rate: string
  pix_fmt: string
  field_order: string
  color_range: string
  color_space: string
  color_primaries: string
  color_transfer: string
  start_time: string
  duration: string
  sample_rate: string
  channels: number
  channel_layout: string
  bit_rate: string
  bits_per_sample?: number
  bits_per_raw_sample?: string
  tags?: Record<string, string>
}

const KEPT_RESULTS = 12
const results = new Map<string, Promise<unknown>>()

/**
 * The result of `read`, kept for the next caller with the same `key` as long as the file is unchanged: several
 * assertions about one file take one process. Callers do not change it.
 */
export async function readOnce<T>(path: string, key: readonly unknown[], read: () => Promise<T>): Promise<T> {
  const { mtimeMs, size, ino } = await stat(path)
  const name = JSON.stringify([path, mtimeMs, size, ino, key])
  const result = (results.get(name) as Promise<T> | undefined) ?? read()
  results.delete(name)
  results.set(name, result)
  for (const oldest of [...results.keys()].slice(0, -KEPT_RESULTS)) results.delete(oldest)
  return result
}

const judge = bundledFfprobe()
/**
 * The JSON that ffprobe prints: npm's, which starts in a few milliseconds of processor time, where that of a distribution
 * takes 150 for its 200 libraries.
 */
export async function ffprobe(args: readonly string[], path: string): Promise<unknown> {
  const text = await readOnce(path, args, async () => {
    const program = (await judge) ?? (await testFfmpeg()).ffprobe
    const words = ['-v', 'error', '-of', 'json', ...args, path]
    return (await run(program, words, { maxBuffer: MAX_OUTPUT, env: sandboxEnvironment() })).stdout
  })
  return JSON.parse(text)
}

/** Decoded frames, one after the other; `flags` = filters and limits. */
export function decodeRaw(path: string, pixelFormat: string, flags: readonly string[] = []): Promise<Buffer> {
  const output = [...flags, '-pix_fmt', pixelFormat, '-f', 'rawvideo', '-']
  return readOnce(path, output, () => ffmpeg(['-i', path, ...output]))
}

export async function probeFile(
  path: string,
): Promise<{ streams: ProbedStream[]; format: { duration: string; bit_rate: string; tags?: Record<string, string> } }> {
  return (await ffprobe(['-show_streams', '-show_format'], path)) as Awaited<ReturnType<typeof probeFile>>
}

export async function probeStream(path: string, type: 'video' | 'audio', position = 0): Promise<ProbedStream> {
  const { streams } = await probeFile(path)
  const found = streams.filter((candidate) => candidate.codec_type === type)[position]
  if (found === undefined) throw new Error(`${path} has no ${type} stream ${position}`)
  return found
}

export interface Packet {
  pts_time?: string
  dts_time?: string
  duration_time?: string
  size: string
  flags: string
  /** Its offset in the file. */
  pos?: string
}
export async function readPackets(path: string, selector = 'v:0'): Promise<Packet[]> {
  const entries = [
    '-select_streams',
    selector,
    '-show_entries',
    'packet=pts_time,dts_time,duration_time,size,flags,pos',
  ]
  return ((await ffprobe(entries, path)) as { packets: Packet[] }).packets
}

export interface Frame {
  key_frame: number
  pict_type: 'I' | 'P' | 'B'
  best_effort_timestamp_time: string
  interlaced_frame: number
}
/** Decodes every frame. */
export async function decodeFrames(path: string, selector = 'v:0'): Promise<Frame[]> {
  const entries = 'frame=key_frame,pict_type,best_effort_timestamp_time,interlaced_frame'
  return ((await ffprobe(['-select_streams', selector, '-show_entries', entries], path)) as { frames: Frame[] }).frames
}

/** Kilobits of a stream's packets in each full second of decoding time. */
export async function kbpsBySecond(path: string, selector = 'v:0'): Promise<number[]> {
  const list = await readPackets(path, selector)
  const times = list.map((packet) => Number(packet.dts_time ?? packet.pts_time))
  const start = Math.min(...times)
  const sums: number[] = []
  for (const [index, packet] of list.entries()) {
    const second = Math.floor((times[index] ?? 0) - start + 1e-6)
    sums[second] = (sums[second] ?? 0) + (Number(packet.size) * 8) / 1000
  }
  return sums
}

/**
 * One colour: the mean of a frame's Y, U and V at `second`, as 8-bit limited-range values directly from the decoder.
 */
export async function meanColor(path: string, second = 0): Promise<[number, number, number]> {
  const { width, height } = await probeStream(path, 'video')
  const raw = await decodeRaw(path, 'yuv420p', ['-ss', `${second}`, '-frames:v', '1'])
  const mean = (from: number, length: number) =>
    raw.subarray(from, from + length).reduce((sum, value) => sum + value, 0) / length
  const luma = width * height
  const chroma = Math.ceil(width / 2) * Math.ceil(height / 2)
  return [mean(0, luma), mean(luma, chroma), mean(luma + chroma, chroma)]
}

/** Bitrates in kbps between the clock references of a transport stream, and the number of continuity counter errors. */
export async function transportRates(path: string): Promise<{ kbps: number[]; counterErrors: number }> {
  const bytes = await readFile(path)
  const kbps: number[] = []
  const counters = new Map<number, number>()
  let last: { at: number; clock: number } | undefined
  let counterErrors = 0
  for (let at = 0; at + 188 <= bytes.length; at += 188) {
    const pid = bytes.readUInt16BE(at + 1) & 0x1fff
    if (pid === 0x1fff) continue
    const control = bytes.readUInt8(at + 3)
    if ((control & 0x10) !== 0) {
      const previous = counters.get(pid)
      if (previous !== undefined && ((previous + 1) & 15) !== (control & 15)) counterErrors += 1
      counters.set(pid, control & 15)
    }
    const hasClock = (control & 0x20) !== 0 && bytes.readUInt8(at + 4) >= 7 && (bytes.readUInt8(at + 5) & 0x10) !== 0
    if (!hasClock) continue
    const base = bytes.readUInt32BE(at + 6) * 2 + (bytes.readUInt8(at + 10) >> 7)
    const clock = base * 300 + (((bytes.readUInt8(at + 10) & 1) << 8) | bytes.readUInt8(at + 11))
    if (last !== undefined) kbps.push(((at - last.at) * 8 * 27_000_000) / (clock - last.clock) / 1000)
    last = { at, clock }
  }
  return { kbps, counterErrors }
}

/**
 * A real clip that is not part of the repository. Skips the test if it is absent; with REQUIRE_ALL=1 the test fails
 * instead.
 */
export function sharedClip(context: TestContext, name: string): string {
  const directory = process.env['TEST_MEDIA_DIR'] ?? resolve(import.meta.dirname, '../../../../shared/media')
  const path = join(directory, name)
  if (existsSync(path)) return path
  return skipTest(context, `${name} is not in ${directory}; set TEST_MEDIA_DIR`)
}
