// In charge of: whether damage of a file can be detected at all: the damaged and the original file are decoded outside
// the service, frame by frame, and ffmpeg's messages are read.
// Not in charge of: how the job ended (hostileSources.test.ts).
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { lastPackets, transportPackets } from '../../../../transcoder/analysis/damage/streamEnding.ts'
import { testFfmpeg } from '../../../support/media/media.ts'

const run = promisify(execFile)

interface Decoded {
  /** Digest of each frame, video and audio in one list in decoding order. */
  frames: string[]
  complaint: string
}

/**
 * whole: the decoded frames are those of the original, or a beginning of them; unnoticed: frames differ without any
 * decoder message, so the service cannot detect it; noticed: frames differ, and ffmpeg reports it.
 */
export type DamageDetection = 'whole' | 'unnoticed' | 'noticed'

export async function detectDamage(
  damaged: string,
  whole: Decoded,
): Promise<{ notice: DamageDetection; complaint: string }> {
  const found = await decode(damaged)
  const complaint =
    found.complaint !== '' && damaged.endsWith('.ts') ? await complaintBeforeEnd(damaged) : found.complaint
  const own = new Set(whole.frames)
  // A recording that is cut off ends in one frame, or one audio packet, of which a part is missing.
  const strange = found.frames.filter((frame) => !own.has(frame)).length
  const missing = whole.frames.length - found.frames.length
  if (strange === 0 && missing <= 0) return { notice: 'whole', complaint }
  const isCut = strange <= 2 && found.frames.slice(0, -3).every((frame) => own.has(frame))
  if (isCut && startsAlike(found.frames, whole.frames)) return { notice: 'whole', complaint }
  return { notice: complaint === '' ? 'unnoticed' : 'noticed', complaint }
}

/** Of a transport stream without the last packet of each stream, which the end of the file may cut in two. */
async function complaintBeforeEnd(path: string): Promise<string> {
  const bytes = await readFile(path)
  const ending = lastPackets(bytes)
  const kept = transportPackets(bytes).filter(({ pid }, index) => index < (ending.get(pid)?.index ?? Infinity))
  const shorter = path.replace(/\.ts$/, '.shorter.ts')
  await writeFile(shorter, Buffer.concat(kept.map((packet) => packet.bytes)))
  return (await decode(shorter)).complaint
}

function startsAlike(some: readonly string[], all: readonly string[]): boolean {
  const begin = some.slice(0, -3)
  const known = new Set(all.slice(0, some.length + 10))
  return begin.every((frame) => known.has(frame))
}

export async function decode(path: string): Promise<Decoded> {
  const { ffmpeg } = await testFfmpeg()
  const input = ['-nostdin', '-v', 'error', '-i', path, '-map', '0:V:0', '-map', '0:a:0?']
  const output = ['-fps_mode', 'passthrough', '-f', 'framemd5', '-']
  const { stdout, stderr } = await run(ffmpeg, [...input, ...output], { maxBuffer: 2 ** 26 }).catch(
    (error: { stdout?: string; stderr?: string }) => ({ stdout: error.stdout ?? '', stderr: error.stderr ?? 'failed' }),
  )
  const frames = stdout.split('\n').flatMap((line) => {
    const fields = line.startsWith('#') ? [] : line.split(',').map((field) => field.trim())
    return fields.length < 6 ? [] : [`${fields[0]} ${fields[5]}`]
  })
  return { frames, complaint: stderr.trim() }
}
