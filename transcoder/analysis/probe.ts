// In charge of: probing a source with ffprobe, as plain values, with an error message if it cannot be used.
// Not in charge of: decisions based on the result (plan/planJob.ts).
import type { JobErrorCode } from '#contract/errorCodes.ts'
import { TaskError } from '#contract/taskError.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { requireNoImage } from './fileKind.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { FfprobeError, runFfprobe } from '../ffmpeg/run.ts'
import { DEEP_PROBE_FLAGS } from '../plan/streams/audioStreamCount.ts'
import { undecodableVideo } from '../plan/model/undecodableVideo.ts'
import { parseFfprobe, type UnnamedAudio } from '../plan/model/ffprobeJson.ts'
import type { FfprobeJson } from '../plan/model/probeOutput.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

const PROBE_TIMEOUT_MS = 120_000

export interface ProbeOptions {
  signal?: AbortSignal
  cwd: string
  deep?: boolean
}

/**
 * `url` is the loopback server's address or a `file:` URL. Throws TaskError (source_not_media, source_damaged, …); if
 * `signal` aborts, its reason.
 */
export async function probe(
  engine: Engine,
  url: string,
  options: ProbeOptions & { program?: number | null; unnamed?: UnnamedAudio },
): Promise<MediaInfo> {
  const media = readProbe(await askFfprobe(engine, url, options), options.program ?? null, options.unnamed)
  return options.deep === true ? { ...media, isProbedDeep: true } : media
}

/** The output of ffprobe, requested before the specification is known. Throws as `probe` does. */
export async function askFfprobe(engine: Engine, url: string, options: ProbeOptions): Promise<FfprobeJson> {
  const args = [
    ...inputFlags(url),
    ...(options.deep === true ? DEEP_PROBE_FLAGS : []),
    '-hide_banner',
    '-v',
    'warning',
    '-of',
    'json',
    '-show_format',
    '-show_streams',
    '-show_programs',
    '-i',
    url,
  ]
  try {
    const text = await runFfprobe(engine, args, {
      ...options,
      purpose: url.startsWith('file:') ? 'probe an output' : 'probe the source',
      timeoutMs: PROBE_TIMEOUT_MS,
    })
    return JSON.parse(text) as FfprobeJson
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error instanceof FfprobeError ? probeError(error) : error
  }
}

/** `program`: the program of a transport stream to use; null = any. Throws TaskError source_not_media. */
export function readProbe(document: FfprobeJson, program: number | null, unnamed?: UnnamedAudio): MediaInfo {
  requireNoImage(document.format?.tags?.['major_brand'])
  const media = parseFfprobe(document, program, unnamed)
  if (media.formats.includes('gif') && document.streams?.[0]?.nb_frames === '1')
    throw new TaskError(
      'source_not_media',
      'The source is a GIF with a single image, which is not transcoded: an animated GIF is.',
    )
  if (media.video === null && media.audio.length === 0)
    throw new TaskError('source_not_media', `The source has ${undecodableVideo(media) ?? 'neither video nor audio'}.`, {
      details: { formats: media.formats, streams: media.other.map((stream) => `${stream.type} ${stream.codec}`) },
    })
  return media
}

/** ffprobe tried this container only because of the file name extension; the bytes do not match. */
const LOW_SCORE = /detected only with low score/

/**
 * ffprobe prints "Invalid data" both for text and for damaged media: if it recognised a container, it names it first.
 */
const CONTAINER = /\[(mov|matroska|mpegts|avi|flv|asf|mxf|ogg|wav|mpeg)[\w,]* @/

function probeError(error: FfprobeError): TaskError {
  if (error.ended === 'timeout')
    return new TaskError('source_unreachable', 'The source could not be inspected in time: it answers too slowly.')
  if (error.ended === 'too_much_output')
    return new TaskError('source_damaged', 'The source’s headers are larger than those of any real file.')
  const failure = explainExit(error)
  const code: JobErrorCode = failure?.code ?? 'source_damaged'
  if (LOW_SCORE.test(error.stderr))
    return new TaskError('source_not_media', 'The source is not a media file: its content does not match its name.')
  if (code === 'source_damaged' && /Invalid data found/.test(error.stderr) && !CONTAINER.test(error.stderr))
    return new TaskError('source_not_media', 'The source is not a recognised media file.')
  // ffprobe encodes nothing, so the source caused the failure.
  if (code === 'encoder_failed')
    return new TaskError('source_damaged', 'The source is damaged: it could not be inspected.')
  return new TaskError(code, failure?.message ?? 'The source could not be inspected.')
}
