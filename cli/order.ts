// In charge of: the body of a job, from a JSON document and the flags that go before it.
// Not in charge of: what is accepted: the service judges it, and says everything that is wrong at once.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { minimumBitrateKbps } from '#contract/bitrate.ts'
import { UsageError } from './failure.ts'

export interface OrderFlags {
  rendition?: string[] | undefined
  container?: string | undefined
  codec?: string | undefined
  mode?: string | undefined
  'audio-bitrate'?: string | undefined
  'no-audio'?: boolean | undefined
  set?: string[] | undefined
}

export type Body = Record<string, unknown>

/** Above the least that is accepted, which is far from enough for a good picture. */
const GENEROSITY = 2.5
const BITRATE_CODECS = ['h.264', 'hevc', 'mpeg2'] as const

/** @param path of a JSON file, or "-". @throws UsageError */
export async function readBody(path: string): Promise<Body> {
  const name = path === '-' ? 'Standard input' : path
  const json = await (path === '-' ? text(process.stdin) : readFile(path, 'utf8')).catch(
    (error: NodeJS.ErrnoException) => {
      throw new UsageError(`${name} cannot be read (${error.code ?? error.message}).`)
    },
  )
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${name} must be a JSON object.`)
  }
  return value as Body
}

/** Flags go before what the document says. Without a document, what is not said is the common case: stereo aac, mp4, vbr. */
export function applyFlags(document: Body | null, flags: OrderFlags): Body {
  const body: Body = { ...document }
  if (flags.container !== undefined) body['output_container'] = flags.container
  if (flags.codec !== undefined) body['video_codec'] = flags.codec
  if (flags.container === 'hls' && !document) body['segmented_output_hls'] = true
  if (flags.rendition || flags.mode !== undefined || !document) {
    body['videoProfiles'] = (flags.rendition ?? ['0']).map((text) => rendition(text, flags))
  }
  if (flags['no-audio'] === true) body['audioProfiles'] = []
  else if (flags['audio-bitrate'] !== undefined || !document) {
    const audio_bitrate = flags['audio-bitrate'] ?? '128'
    body['audioProfiles'] = [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate, source_stream: '1' }]
  }
  for (const text of flags.set ?? []) set(body, text)
  return body
}

/** "720", "720:2500", "1280x720:2500", "0" (the source's size). */
function rendition(text: string, flags: OrderFlags): object {
  const [, width = '0', height = '', kbps] = /^(?:(\d{1,5})x)?(\d{1,5})(?::(\d{1,7}))?$/.exec(text) ?? []
  if (height === '') throw new UsageError(`--rendition ${text} is none: write 720, 720:2500 or 1280x720:2500.`)
  return {
    width: Number(width),
    height: Number(height),
    video_bitrate: kbps === undefined ? bitrate(Number(width), Number(height), flags) : Number(kbps),
    video_bitrate_mode: flags.mode ?? 'vbr',
  }
}

/** Of a size that the source decides, that of 1080 lines; of a width that it decides, 16:9. */
function bitrate(width: number, height: number, flags: OrderFlags): number {
  const codec = BITRATE_CODECS.find((one) => one === flags.codec) ?? 'h.264'
  const lines = height === 0 ? 1080 : height
  const least = minimumBitrateKbps(codec, width === 0 ? Math.round((lines * 16) / 9) : width, lines, 'cbr')
  return Math.ceil((least * GENEROSITY) / 50) * 50
}

/** JSON where it is some, else text. */
function set(body: Body, text: string): void {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--set ${text} is no FIELD=VALUE.`)
  const value = text.slice(at + 1)
  let read: unknown = value
  try {
    read = JSON.parse(value)
  } catch {
    // A text needs no quotes.
  }
  body[text.slice(0, at)] = read
}
