// In charge of: reading the bytes of a caption file of any format into cues: which format it is, what is left out, limits.
// Not in charge of: the formats (one reader each), fetching the file (transcoder/source/captionFiles.ts), cuts
// (plan/streams/sidecarCaptions.ts).
import { captionFormatNames, type CaptionFormat } from '#contract/captions.ts'
import { MAX_CAPTION_CUES } from '#contract/limits.ts'
import { plainText, tidyLines, type CaptionCue } from './captionCue.ts'
import type { CaptionFile, CaptionRemark } from './captionFile.ts'
import { CaptionError } from './captionError.ts'
import { flattenCues } from './flattenCues.ts'
import { readScc } from './sccReader.ts'
import { readSrt } from './srtReader.ts'
import { isStl, readStl } from './stlReader.ts'
import { readTtml } from './ttmlReader.ts'
import { readWebvtt } from './webvttReader.ts'

interface DecodedText {
  /** Lines are separated by line feeds only; no byte order mark. */
  text: string
  /** It is not valid UTF-8 and has no byte order mark, so it was read as Windows-1252. */
  isAssumed: boolean
}

function decodeCaptionText(bytes: Uint8Array): DecodedText {
  const utf16 = startsWith(bytes, 0xff, 0xfe) ? 'utf-16le' : startsWith(bytes, 0xfe, 0xff) ? 'utf-16be' : null
  if (utf16 !== null) return { text: normalized(new TextDecoder(utf16).decode(bytes)), isAssumed: false }
  const declared = declaredEncoding(bytes)
  if (declared !== null) return { text: normalized(decodeAs(declared, bytes)), isAssumed: false }
  try {
    return { text: normalized(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), isAssumed: false }
  } catch {
    return { text: normalized(new TextDecoder('windows-1252').decode(bytes)), isAssumed: true }
  }
}

/** The encoding that an XML document states; null = UTF-8, or none. */
function declaredEncoding(bytes: Uint8Array): string | null {
  const head = String.fromCharCode(...bytes.subarray(0, 200))
  const name = /^(?:\u00EF\u00BB\u00BF)?<\?xml\s[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/.exec(
    head,
  )?.[1]
  return name === undefined || /^(utf-?8|us-ascii|utf-?16)$/i.test(name) ? null : name
}

function decodeAs(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(name).decode(bytes)
  } catch {
    throw new CaptionError(`Its encoding ${name} is not known.`, 1)
  }
}

/** NUL is replaced, as in WebVTT (4.1): some programs cannot store it. */
function normalized(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').replaceAll(/\r\n?/g, '\n')
}

function startsWith(bytes: Uint8Array, first: number, second: number): boolean {
  return bytes[0] === first && bytes[1] === second
}

export interface ReadRequest {
  /** null = by content. */
  format: CaptionFormat | null
  /** Seconds added to the times of the file, instead of its programme start; null = not given. */
  offsetSeconds: number | null
}

/** @throws CaptionError */
export function readCaptions(bytes: Uint8Array, { format: asked, offsetSeconds }: ReadRequest): CaptionFile {
  const { text, isAssumed } = isStl(bytes) ? { text: '', isAssumed: false } : decodeCaptionText(bytes)
  const format = asked ?? (isStl(bytes) ? 'stl' : detectFormat(text))
  const isEmpty = !isStl(bytes) && text.trim() === ''
  const {
    cues: found,
    remarks,
    codes,
  }: Pick<CaptionFile, 'cues' | 'remarks' | 'codes'> = isEmpty
    ? { cues: [], remarks: [] }
    : readAs(asked ?? format, { bytes, text, isDetected: asked === null, offsetSeconds })
  const shown = found.map((cue) => ({ ...cue, lines: tidyLines(cue.lines) })).filter(({ lines }) => lines.length > 0)
  requireLimits(shown)
  const lasting = shown.filter(({ start, end }) => end > start)
  const untimed = shown.length - lasting.length
  const cues = lasting.toSorted((a, b) => a.start - b.start)
  // Tracks of mp4 and CEA-608 need it: what it refuses is refused while the file is read.
  flattenCues(cues)
  return {
    format,
    cues,
    remarks: [
      ...(isAssumed ? [ENCODING] : []),
      ...remarks,
      ...(untimed === 0 ? [] : [{ kind: 'times' as const, message: untimedMessage(untimed) }]),
      ...(lasting.length === 0 ? [EMPTY] : []),
    ],
    ...(codes === undefined ? {} : { codes }),
  }
}

interface Content {
  bytes: Uint8Array
  text: string
  /** The request names no format. */
  isDetected: boolean
  offsetSeconds: number | null
}

function readAs(
  format: CaptionFormat,
  { bytes, text, isDetected, offsetSeconds }: Content,
): Pick<CaptionFile, 'cues' | 'remarks' | 'codes'> {
  const shifted = (cues: readonly CaptionCue[]) => ({
    cues: cues.map((cue) => ({ ...cue, start: cue.start + (offsetSeconds ?? 0), end: cue.end + (offsetSeconds ?? 0) })),
    remarks: [],
  })
  switch (format) {
    case 'srt':
      if (isDetected && !text.includes('-->'))
        throw new CaptionError(`It is none of ${Object.values(captionFormatNames).join(', ')}.`, 1)
      return shifted(readSrt(text))
    case 'webvtt':
      return shifted(readWebvtt(text))
    case 'ttml':
      return readTtml(text, offsetSeconds)
    case 'scc':
      return readScc(text, offsetSeconds)
    case 'stl':
      return readStl(bytes, offsetSeconds)
  }
}

const EMPTY: CaptionRemark = { kind: 'empty', message: 'It contains no captions, so its track is empty.' }
const ENCODING: CaptionRemark = {
  kind: 'encoding',
  message: 'It is not UTF-8, so it was read as Windows-1252: check accents and other special characters.',
}

/** Longer than any text that fits into a frame. */
const MAX_CUE_CHARACTERS = 5000

function requireLimits(cues: readonly CaptionCue[]): void {
  if (cues.length > MAX_CAPTION_CUES)
    throw new CaptionError(`It has ${cues.length} captions; at most ${MAX_CAPTION_CUES} are read.`)
  if (cues.some((cue) => plainText(cue).length > MAX_CUE_CHARACTERS))
    throw new CaptionError(`One of its captions has more than ${MAX_CUE_CHARACTERS} characters.`)
}

function untimedMessage(count: number): string {
  return count === 1
    ? 'One caption does not end after it begins, and is left out.'
    : `${count} captions do not end after they begin, and are left out.`
}

/** By what the file begins with; SubRip, which has no signature, is what remains. */
function detectFormat(text: string): CaptionFormat {
  if (/^\s*WEBVTT(?:\s|$)/.test(text)) return 'webvtt'
  if (/^\s*scenarist_scc/i.test(text)) return 'scc'
  return /^\s*<(?:\?xml|!--|!DOCTYPE|(?:[\w.-]+:)?tt[\s>])/.test(text) ? 'ttml' : 'srt'
}
