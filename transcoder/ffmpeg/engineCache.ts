// In charge of: the record of what ffmpeg and ffprobe can do, written when the image is built, and whether it is still
// valid for the installed programs.
// Not in charge of: finding out what they can do (locate.ts).
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Engine } from './locate.ts'

/** A program, or a library that it loads. */
interface FileStamp {
  path: string
  bytes: number
  /** In whole seconds: the layers of an image store no fractions. */
  modified: number
}

interface EngineCache {
  /** Digest of the code that asks: another version of it may check for more. */
  questions: string
  engine: Omit<Engine, 'sandbox'>
  witnesses: FileStamp[]
}

const run = promisify(execFile)

export async function writeEngineCache(path: string, engine: Engine): Promise<void> {
  const { ffmpeg, ffprobe, version, build, features } = engine
  const paths = new Set([ffmpeg, ffprobe, ...(await libraries(ffmpeg)), ...(await libraries(ffprobe))])
  const record: EngineCache = {
    questions: await probeDigest(),
    engine: { ffmpeg, ffprobe, version, build, features },
    witnesses: await Promise.all([...paths].map(fileStamp)),
  }
  await writeFile(path, JSON.stringify(record))
}

/** @throws Error that says why the record is not valid; the programs have to be run then */
export async function readEngineCache(path: string, env: Record<string, string | undefined>): Promise<Engine> {
  const record = JSON.parse(await readFile(path, 'utf8')) as EngineCache
  if (record.questions !== (await probeDigest())) throw new Error('another version of the transcoder wrote it')
  for (const name of ['ffmpeg', 'ffprobe'] as const) {
    // Where none is named, choosing one takes running all of them.
    const named = env[`${name.toUpperCase()}_PATH`] || 'one that has to be found'
    if (named !== record.engine[name]) throw new Error(`it is about ${record.engine[name]}, not about ${named}`)
  }
  const now = await Promise.all(record.witnesses.map(({ path: file }) => fileStamp(file).catch(() => null)))
  const changed = record.witnesses.find(
    (then, index) => now[index] === null || now[index]?.bytes !== then.bytes || now[index]?.modified !== then.modified,
  )
  if (changed !== undefined) throw new Error(`${changed.path} has changed since`)
  return record.engine
}

/** The files that decide which programs are accepted: the checks, and the encoders that codecs need. */
const QUESTIONS = ['locate.ts', '../plan/codecs.ts']

async function probeDigest(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of QUESTIONS) hash.update(await readFile(new URL(source, import.meta.url)))
  return hash.digest('hex')
}

async function fileStamp(path: string): Promise<FileStamp> {
  const { size, mtimeMs } = await stat(path)
  return { path, bytes: size, modified: Math.floor(mtimeMs / 1000) }
}

/** Most of ffmpeg's code is in its libraries, which can be replaced without the program. */
async function libraries(program: string): Promise<string[]> {
  try {
    const { stdout } = await run('ldd', [program])
    return [...stdout.matchAll(/(?:^[ \t]*|=> )(\/\S+) \(0x/gm)].map(([, path]) => path!)
  } catch (error) {
    // A statically linked program has no libraries.
    if (String((error as { stderr?: unknown }).stderr).includes('not a dynamic executable')) return []
    throw error
  }
}
