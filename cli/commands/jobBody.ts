// In charge of: building the body of a job from a JSON document and the flags that override it.
// Not in charge of: validation: the service reports all problems at once.
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import { HEIGHT } from '#contract/limits.ts'
import { UsageError } from '../cliErrors.ts'

export interface JobFlags {
  hls?: boolean | undefined
  dash?: boolean | undefined
  mp4?: boolean | undefined
  preset?: string | undefined
  rendition?: string[] | undefined
  container?: string | undefined
  codec?: string | undefined
  mode?: string | undefined
  'audio-bitrate'?: string | undefined
  'source-channels'?: string | undefined
  'no-audio'?: boolean | undefined
  'audio-only'?: string | undefined
  'no-video'?: boolean | undefined
  stills?: string[] | undefined
  preview?: string | undefined
  waveform?: string | undefined
  'allow-upscaling'?: boolean | undefined
  chunks?: string | undefined
  deadline?: string | undefined
  metadata?: string[] | undefined
  set?: string[] | undefined
}

export type JobBody = Record<string, unknown>

/** Factor on the minimum bitrate, which is far too low for good quality. */
const BITRATE_HEADROOM = 2.5
/** Stereo. */
const DEFAULT_AUDIO_KBPS = '128'
/** Seconds. Segments have 6 s, and a player can change the rendition at each key frame. */
const STREAMING_GOP = 2

/** @param path of a JSON file, or "-". @throws UsageError */
export async function readBody(path: string): Promise<JobBody> {
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
  return value as JobBody
}

/**
 * Flags override the document. Without a document and a preset, the defaults work for every source: renditions no
 * larger than the source, and stereo AAC if the source has audio.
 * @throws UsageError
 */
export function applyJobFlags(document: JobBody | null, flags: JobFlags): JobBody {
  refuseContradictions(flags)
  const body: JobBody = { ...document }
  if (flags.preset !== undefined) body['preset'] = flags.preset
  const isBare = document === null && flags.preset === undefined
  applyFormat(body, flags)
  if (flags.container !== undefined) body['output_container'] = flags.container
  if (flags.codec !== undefined) body['video_codec'] = flags.codec
  if (flags.container === 'hls' && isBare) body['segmented_output_hls'] = true
  applyVideo(body, flags, isBare)
  if (flags['allow-upscaling'] === true) body['allow_upscaling'] = true
  if (flags['no-video'] === true) removeVideo(body)
  if (flags['audio-only'] !== undefined) return withoutVideo(body, flags)
  if (flags['no-audio'] === true) body['audioProfiles'] = []
  else if ((flags['audio-bitrate'] ?? flags['source-channels']) !== undefined || isBare) {
    const audio_bitrate = flags['audio-bitrate'] ?? DEFAULT_AUDIO_KBPS
    const stereo = { audio_codec: 'aac', audio_channels: '2', audio_bitrate, ...sourceOf(flags), optional: true }
    const copied = { audio_codec: 'copy', source_stream: '1', optional: true }
    body['audioProfiles'] = [
      flags.codec === 'copy' && (flags['audio-bitrate'] ?? flags['source-channels']) === undefined ? copied : stereo,
    ]
  }
  return withSettings(body, flags)
}

function withSettings(body: JobBody, flags: JobFlags): JobBody {
  if (flags.stills) body['stills'] = flags.stills.map(readStillsArgument)
  if (flags.preview !== undefined) body['animated_preview'] = { format: flags.preview }
  if (flags.waveform !== undefined) body['waveform'] = { format: flags.waveform }
  if (flags.chunks !== undefined) body['max_chunk_seconds'] = flags.chunks
  if (flags.deadline !== undefined) body['deadline_seconds'] = flags.deadline
  if (flags.metadata) body['metadata'] = { ...asObject(body['metadata']), ...metadataOf(flags.metadata) }
  for (const each of flags.set ?? []) set(body, each)
  return body
}

/** The first audio stream, or the named channels. */
function sourceOf({ 'source-channels': channels }: JobFlags): object {
  if (channels === undefined) return { source_stream: '1' }
  // Where each channel has its stream, there may be no channel of stream 1.
  return channels.split(',').every((each) => each.includes(':'))
    ? { source_channels: channels }
    : { source_stream: '1', source_channels: channels }
}

/** Containers that are not named as their codec. The service knows the codecs. */
const AUDIO_FILES: Readonly<Record<string, string>> = { aac: 'm4a', opus: 'ogg', pcm: 'wav' }

/** The audio of the source in one codec, as a file or as segments. */
function withoutVideo(body: JobBody, flags: JobFlags): JobBody {
  removeVideo(body)
  const codec = flags['audio-only'] ?? ''
  const hasBitrate = codec !== 'flac' && codec !== 'pcm' && codec !== 'copy'
  const bitrate = flags['audio-bitrate'] ?? (hasBitrate ? DEFAULT_AUDIO_KBPS : undefined)
  const audio_bitrate = bitrate === undefined ? {} : { audio_bitrate: bitrate }
  const isFile = (flags.hls ?? flags.dash) !== true
  const file = isFile && codec !== 'copy' ? { audio_container: AUDIO_FILES[codec] ?? codec } : {}
  // The container of a copied stream is known only with the source.
  if (isFile && codec === 'copy') body['audio_output_path'] = 'audio'
  body['videoProfiles'] = []
  body['audioProfiles'] = [{ audio_codec: codec, ...file, audio_channels: '2', ...audio_bitrate, ...sourceOf(flags) }]
  return withSettings(body, flags)
}

function removeVideo(body: JobBody): void {
  for (const name of ['videoProfiles', 'ladder', 'allow_upscaling', 'gop_length']) delete body[name]
}

function refuseContradictions(flags: JobFlags): void {
  const { hls, dash, mp4, container, rendition, mode, preset } = flags
  if (mp4 === true && (hls === true || dash === true))
    throw new UsageError('--mp4 makes files, --hls and --dash make segments. They cannot be combined.')
  if (container !== undefined && (hls ?? dash ?? mp4) === true)
    throw new UsageError('--hls, --dash and --mp4 determine the container. Leave out --container.')
  if (mode !== undefined && rendition === undefined && (hls ?? dash ?? mp4) === true)
    throw new UsageError('--mode applies to renditions given with --rendition.')
  if (mode !== undefined && rendition === undefined && preset !== undefined)
    throw new UsageError('--mode applies to renditions given with --rendition, not to those of --preset.')
  if (flags['audio-only'] !== undefined && (flags['no-audio'] === true || rendition !== undefined || mp4 === true))
    throw new UsageError('--audio-only makes no video. It cannot be combined with --no-audio, --mp4 or --rendition.')
  if (flags['no-video'] === true && (rendition ?? mode ?? flags.codec ?? mp4) !== undefined)
    throw new UsageError('--no-video cannot be combined with --mp4, --rendition, --codec or --mode.')
  if (flags['no-video'] === true && preset !== undefined)
    throw new UsageError('--no-video cannot be combined with --preset: the renditions of a preset stay.')
  if (flags['no-audio'] === true && flags['audio-bitrate'] !== undefined)
    throw new UsageError('--no-audio and --audio-bitrate cannot be combined.')
  if (flags['no-audio'] === true && flags['source-channels'] !== undefined)
    throw new UsageError('--no-audio and --source-channels cannot be combined.')
}

/** Sets the output format and its manifests. */
function applyFormat(body: JobBody, { hls, dash, mp4 }: JobFlags): void {
  if (mp4 === true) {
    body['output_container'] = 'mp4'
    delete body['segmented_output_hls']
    delete body['segmented_output_dash']
  }
  if (hls !== true && dash !== true) return
  // HLS alone uses transport streams, which every device plays. With DASH, both share one set of fragmented MP4.
  body['output_container'] = hls === true ? 'hls' : 'mp4'
  body['segmented_output_hls'] = hls === true
  body['segmented_output_dash'] = dash === true
  body['gop_length'] ??= STREAMING_GOP
}

function applyVideo(body: JobBody, flags: JobFlags, isBare: boolean): void {
  const { hls, dash, mp4, rendition: renditions, mode, codec } = flags
  if (codec === 'copy' && renditions === undefined && mode === undefined) {
    // One output, as large as the source.
    if (isBare) body['videoProfiles'] = [{}]
    return
  }
  if (renditions || (mode !== undefined && isBare)) {
    body['videoProfiles'] = (renditions ?? ['0']).map((each) => rendition(each, flags, isBare))
    delete body['ladder']
  } else if (mode !== undefined) {
    throw new UsageError('--mode applies to renditions given with --rendition.')
  } else if ((hls ?? dash ?? mp4) === true && body['videoProfiles'] === undefined && flags.preset === undefined) {
    body['ladder'] = 'auto'
    return
  } else if (isBare) body['videoProfiles'] = [rendition('0', flags, isBare)]
  if (isBare) body['allow_upscaling'] = false
}

/** "720", "720:2500", "1280x720:2500", "0" (the source's size). */
function rendition(written: string, flags: JobFlags, isBare: boolean): object {
  const [, width = '0', height = '', kbps] = /^(?:(\d{1,5})x)?(\d{1,5})p?(?::(\d{1,7}))?$/.exec(written) ?? []
  if (height === '') throw new UsageError(`--rendition ${written}: write 720, 720:2500 or 1280x720:2500.`)
  const isSourceSize = Number(width) === 0 && Number(height) === 0
  // Larger than any source, so that the service reduces it to the source's size with the bitrate of that size.
  if (isSourceSize && kbps === undefined && isBare && flags['allow-upscaling'] !== true)
    return rendition(`${largestLines(flags)}`, flags, isBare)
  return {
    width: Number(width),
    height: Number(height),
    video_bitrate: kbps === undefined ? bitrate(Number(width), Number(height), flags) : Number(kbps),
    video_bitrate_mode: flags.mode ?? 'vbr',
  }
}

function largestLines({ codec }: JobFlags): number {
  return codec === 'mpeg2' ? 1080 : HEIGHT.maximum
}

/** Bitrate of a rendition. An unknown height counts as 1080, an unknown width as 16:9. */
function bitrate(width: number, height: number, flags: JobFlags): number {
  const codec = WIRE_VIDEO_CODECS.find((one) => one === flags.codec) ?? 'h.264'
  const lines = height === 0 ? 1080 : height
  const least = minimumBitrateKbps(codec, width === 0 ? Math.round((lines * 16) / 9) : width, lines, 'cbr')
  return Math.ceil((least * BITRATE_HEADROOM) / 50) * 50
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

function metadataOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`--metadata ${pair}: write NAME=VALUE.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** A value that is valid JSON is parsed, anything else is text. */
function set(body: JobBody, pair: string): void {
  const at = pair.indexOf('=')
  if (at < 1) throw new UsageError(`--set ${pair}: write FIELD=VALUE.`)
  const value = pair.slice(at + 1)
  let read: unknown = value
  try {
    read = JSON.parse(value)
  } catch {
    // Not JSON: text needs no quotes.
  }
  body[pair.slice(0, at)] = read
}

/** Names on the command line → fields of an element of `stills`, and whether the value is a number. */
const FIELDS: Readonly<Record<string, { field: string; isNumber: boolean }>> = {
  at: { field: 'at_seconds', isNumber: false },
  every: { field: 'every_seconds', isNumber: true },
  count: { field: 'count', isNumber: true },
  width: { field: 'width', isNumber: true },
  height: { field: 'height', isNumber: true },
  format: { field: 'format', isNumber: false },
  quality: { field: 'quality', isNumber: true },
  output: { field: 'output', isNumber: false },
}
const NUMBER = /^\d{1,9}(\.\d{1,9})?$/

/** One element of `stills`. Several times are written `at=12.5,at=00:01:00`. @throws UsageError */
export function readStillsArgument(text: string): Record<string, unknown> {
  const refuse = (why: string) =>
    new UsageError(`--stills ${text}: ${why}. Write for example every=10,width=320 or count=12 or at=12.5.`)
  const element: Record<string, unknown> = {}
  for (const pair of text.split(',')) {
    const [name = '', ...rest] = pair.split('=')
    const value = rest.join('=')
    const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (known === undefined) throw refuse(`${pair} is none of ${Object.keys(FIELDS).join(', ')}`)
    const { field, isNumber } = known
    if (value === '' || (isNumber && !NUMBER.test(value)))
      throw refuse(`${pair} has no ${isNumber ? 'number' : 'value'}`)
    const isTime = name === 'at' && NUMBER.test(value)
    const read = isNumber || isTime ? Number(value) : value
    const before = element[field]
    if (before === undefined) element[field] = read
    else if (name === 'at') element[field] = Array.isArray(before) ? [...(before as unknown[]), read] : [before, read]
    else throw refuse(`${name} stands there twice`)
  }
  return element
}
