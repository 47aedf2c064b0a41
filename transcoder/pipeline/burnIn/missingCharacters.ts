// In charge of: finding out, before the encode, which characters of the captions no font of this machine has.
// Not in charge of: the warning (plan/streams/burnIn.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { runFfmpeg, type FfmpegPrograms } from '../../ffmpeg/run.ts'
import { assFile } from '../../formats/ass/assFile.ts'
import { plainLine, plainText, type CaptionCue } from '../../formats/captions/captionCue.ts'
import { noFonts } from '../../plan/streams/burnIn.ts'
import type { Workspace } from '../../workspace.ts'

/** libass draws nothing for these, or they change their neighbours only. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cc}\p{Cs}\p{Cn}]/u
const SIZE = 64
const CHARACTERS_PER_CUE = 500
/** libass: no font has this character. 0 stands for any. */
const MISSING = /failed to find any fallback with glyph 0x([0-9A-F]+)/i

/**
 * Draws each character once into one frame, and reads which ones libass could not find. Throws TaskError
 * burn_in_unavailable without any font.
 */
export async function missingCharacters(
  engine: FfmpegPrograms,
  { cues, font }: { cues: readonly Pick<CaptionCue, 'lines'>[]; font: string },
  workspace: Pick<Workspace, 'root' | 'cwd'>,
  signal: AbortSignal,
): Promise<string[]> {
  const characters = new Set<string>()
  for (const cue of cues)
    for (const character of plainText(cue)) if (!INVISIBLE.test(character)) characters.add(character)
  if (characters.size === 0) return []
  const files = { text: join(workspace.root, 'characters.ass'), frame: join(workspace.root, 'blank.gray') }
  await writeFile(files.text, assFile(sheetsOf([...characters]), { ...SHEET, font }))
  await writeFile(files.frame, Buffer.alloc(SIZE * SIZE))
  const missing = new Set<string>()
  let hasFonts = true
  try {
    await runFfmpeg(
      engine,
      [
        ...['-nostdin', '-hide_banner', '-loglevel', 'level+verbose', '-nostats', '-progress', 'pipe:1'],
        ...['-protocol_whitelist', 'file', '-format_whitelist', 'rawvideo', '-codec_whitelist', 'rawvideo'],
        ...['-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', `${SIZE}x${SIZE}`, '-framerate', '1'],
        ...['-i', `file:${files.frame}`],
        ...['-vf', `format=yuv420p,ass=filename=${relative(workspace.cwd, files.text)}:shaping=complex`],
        ...['-frames:v', '1', '-f', 'null', '-'],
      ],
      {
        cwd: workspace.cwd,
        purpose: 'look for the characters of captions in the fonts',
        signal,
        limits: { fileBytes: 0, cpuSeconds: 300 },
        // A machine without a cache of its fonts reads all of them first.
        stallMs: 240_000,
        onLine: (line) => {
          const found = MISSING.exec(line)?.[1]
          if (found === undefined) return true
          const code = Number.parseInt(found, 16)
          if (code === 0) hasFonts = false
          else missing.add(String.fromCodePoint(code))
          return false
        },
      },
    )
  } finally {
    await Promise.all(Object.values(files).map((file) => rm(file, { force: true })))
  }
  signal.throwIfAborted()
  if (!hasFonts) throw noFonts()
  return [...missing].filter((character) => characters.has(character))
}

const SHEET = { width: SIZE, height: SIZE, frameRate: { num: 1, den: 1 }, white: 255 }

/** With blanks in between, so that none joins its neighbours. */
function sheetsOf(characters: readonly string[]): CaptionCue[] {
  return Array.from({ length: Math.ceil(characters.length / CHARACTERS_PER_CUE) }, (_, sheet) => ({
    start: 0,
    end: 1,
    lines: [plainLine(characters.slice(sheet * CHARACTERS_PER_CUE, (sheet + 1) * CHARACTERS_PER_CUE).join(' '))],
    place: {},
  }))
}
