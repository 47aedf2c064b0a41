// In charge of: reading captions that a stranger wrote in a process of its own, with limits of processor time, memory and
// size: they end the job that names them, not the transcoder.
// Not in charge of: the formats (formats/captions), the program that runs in that process (captionProgram.ts).
import { fileURLToPath } from 'node:url'
import type { Attempt } from '../attempt.ts'
import { PDEATHSIG_FLAGS } from '../ffmpeg/sandbox.ts'
import { runFfmpeg, type FfmpegPrograms, type FfmpegResult } from '../ffmpeg/run.ts'
import { CaptionError } from '../formats/captions/captionError.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import type { ReadRequest } from '../formats/captions/readCaptions.ts'

/** A day of dense dialogue takes less than a second. */
const LIMITS = {
  cpuSeconds: 30,
  heapMib: 768,
  /** What was read, as JSON. */
  readMib: 32,
}
/** For systems without limits of processor time. */
const STALL_MS = 5 * 60_000
/** Of the process, besides its heap: the file, and what Node itself needs. */
const OTHER_BYTES = 1.25 * 2 ** 30
const PROGRAM = fileURLToPath(new URL('captionProgram.ts', import.meta.url))

/** What the program answers. */
export type CaptionAnswer = { file: CaptionFile } | { message: string; line: number | null }

/** @throws CaptionError if they cannot be read within the limits */
export async function readCaptionsApart(
  { engine, workspace, controller: { signal } }: Pick<Attempt, 'engine' | 'workspace' | 'controller'>,
  bytes: Uint8Array,
  { format, offsetSeconds }: ReadRequest,
  limits = LIMITS,
): Promise<CaptionFile> {
  const { cpuSeconds, heapMib, readMib } = limits
  let text = ''
  let isTooLarge = false
  const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${heapMib}`]
  const result = await runFfmpeg(
    programs(engine),
    [...flags, PROGRAM, JSON.stringify({ format, offsetSeconds } satisfies ReadRequest)],
    {
      cwd: workspace.cwd,
      signal,
      stallMs: STALL_MS,
      limits: { cpuSeconds, memoryBytes: heapMib * 2 ** 20 + OTHER_BYTES, fileBytes: 0 },
      pipeReaders: [
        async (pipe) => {
          const blocks: Buffer[] = []
          let read = 0
          for await (const block of pipe as AsyncIterable<Buffer>) {
            read += block.length
            if (read > readMib * 2 ** 20) isTooLarge = true
            else blocks.push(block)
          }
          text = Buffer.concat(blocks).toString('utf8')
        },
      ],
      pipeFeed: { count: 1, write: async ([pipe]) => void pipe!.end(bytes) },
    },
  )
  signal.throwIfAborted()
  if (isTooLarge) throw new CaptionError(`Its captions take more than ${readMib} MiB once they are read.`)
  if (result.code !== 0) throw unreadable(result, limits)
  const answer = JSON.parse(text) as CaptionAnswer
  if ('message' in answer) throw new CaptionError(answer.message, answer.line)
  return answer.file
}

/** Node, which runs the project's own code: as the transcoder's user, who can read that code. Nothing is logged of it. */
function programs({ sandbox }: FfmpegPrograms): FfmpegPrograms {
  const node = { ffmpeg: process.execPath, ffprobe: process.execPath }
  if (sandbox === undefined) return node
  const privileges = sandbox.setpriv === null ? [] : PDEATHSIG_FLAGS
  return { ...node, sandbox: { ...sandbox, user: null, privileges, noNetworkCommand: null, ownTempCommand: null } }
}

/** V8 ends with SIGABRT, or with the number of that signal, when its heap is full. */
function unreadable({ ended, code, signal, stderr }: FfmpegResult, { cpuSeconds, heapMib }: typeof LIMITS): Error {
  if (ended === 'stalled' || signal === 'SIGXCPU' || code === 152)
    return new CaptionError(`Reading it takes more than ${cpuSeconds} s of processor time.`)
  if (/out of memory|allocation failed|Invalid string length/i.test(stderr))
    return new CaptionError(`Reading it takes more than ${heapMib} MiB of memory.`)
  return new Error(`The process that reads captions ended with ${signal ?? code}: ${stderr.slice(-2000)}`)
}
