// In charge of: captions that were drawn into video: in which frames pixels differ from the same video without them, and
// what a program that reads text (tesseract) sees.
// Not in charge of: expectations.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeEach } from 'vitest'
import { TaskError } from '#contract/taskError.ts'
import { PLAIN } from '../../../transcoder/formats/captions/captionCue.ts'
import { missingCharacters } from '../../../transcoder/pipeline/burnIn/missingCharacters.ts'
import { decodeRaw, ffmpeg } from '../media/media.ts'
import { skipTest } from '../requirement.ts'
import type { AttemptFixture } from '../transcoder/attemptFixture.ts'

const run = promisify(execFile)
/** Far above what an encoder changes, far below the difference of white text. */
const CLEAR = 60
/** Pixels: a full stop has more. */
const ENOUGH = 4

export interface Size {
  width: number
  height: number
}

/** Numbers of the frames in which two videos of a size differ clearly, and how many frames there are. */
export async function differingFrames(
  file: string,
  reference: string,
  { width, height }: Size,
): Promise<{ frames: number[]; count: number }> {
  const [drawn, plain] = await Promise.all([file, reference].map((path) => decodeRaw(path, 'gray')))
  const size = width * height
  if (drawn!.length !== plain!.length || drawn!.length % size !== 0) throw new Error('the videos differ in length')
  const frames: number[] = []
  for (let frame = 0; frame * size < drawn!.length; frame++) {
    let differing = 0
    for (let at = frame * size; at < (frame + 1) * size && differing < ENOUGH; at++)
      if (Math.abs(drawn![at]! - plain![at]!) > CLEAR) differing++
    if (differing >= ENOUGH) frames.push(frame)
  }
  return { frames, count: drawn!.length / size }
}

/** The box of all pixels of a grey frame that are brighter than `level`; null = none. */
export function brightBox(
  pixels: Buffer,
  { width }: Size,
  level = 180,
): { left: number; right: number; top: number; bottom: number } | null {
  let box: { left: number; right: number; top: number; bottom: number } | null = null
  for (const [at, value] of pixels.entries()) {
    if (value < level) continue
    const [x, y] = [at % width, Math.floor(at / width)]
    box ??= { left: x, right: x, top: y, bottom: y }
    box = {
      left: Math.min(box.left, x),
      right: Math.max(box.right, x),
      top: Math.min(box.top, y),
      bottom: Math.max(box.bottom, y),
    }
  }
  return box
}

/** One frame as grey pixels. */
export async function greyFrame(file: string, frame: number): Promise<Buffer> {
  return ffmpeg([
    '-i',
    file,
    '-vf',
    `select=eq(n\\,${frame})`,
    '-frames:v',
    '1',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'gray',
    '-',
  ])
}

/** What this machine lacks to draw text; null = nothing. */
export async function missingFonts({
  engine,
  directory,
}: Pick<AttemptFixture, 'engine' | 'directory'>): Promise<string | null> {
  const text = { cues: [{ lines: [[{ ...PLAIN, text: 'a' }]] }], font: 'sans-serif' }
  try {
    await missingCharacters(engine, text, { root: directory, cwd: directory }, new AbortController().signal)
    return null
  } catch (error) {
    if (error instanceof TaskError && error.code === 'burn_in_unavailable') return error.message
    throw error
  }
}

/** For files whose tests all draw text. */
export async function requireFonts(fixture: AttemptFixture): Promise<void> {
  const missing = await missingFonts(fixture)
  beforeEach((context) => {
    if (missing !== null) skipTest(context, missing)
  })
}

/** What this machine lacks to read text of these languages; null = nothing. */
export async function missingOcr(languages: readonly string[]): Promise<string | null> {
  const listed = await run('tesseract', ['--list-langs']).catch(() => null)
  if (listed === null) return 'tesseract is not installed (Debian: tesseract-ocr)'
  const installed = listed.stdout.split('\n')
  const missing = languages.filter((language) => !installed.includes(language))
  return missing.length === 0 ? null : `tesseract lacks ${missing.join(', ')} (Debian: tesseract-ocr-${missing[0]})`
}

/** The text in a frame, black on white and enlarged, with single blanks. */
export async function readText(file: string, frame: number, language: string, png: string): Promise<string> {
  const filters = `select=eq(n\\,${frame}),scale=iw*sar*2:ih*2:flags=lanczos,format=gray,negate`
  await ffmpeg(['-y', '-i', file, '-vf', filters, '-frames:v', '1', png])
  const { stdout } = await run('tesseract', [png, '-', '-l', language, '--psm', '6'])
  return stdout
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
