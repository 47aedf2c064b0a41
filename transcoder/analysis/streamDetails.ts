// In charge of: properties of a source that planning needs and ffprobe does not report: dialogue and downmix levels,
// HDR light levels, captions in the video.
// Not in charge of: parsing the bytes (formats/ac3.ts, formats/cea/), how they are used (plan/).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { audioCodecs, type VideoCodec } from '#contract/codecs.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { unnamedAudio } from '../formats/mpegts/elementaryKind.ts'
import { readAc3Header } from '../formats/ac3.ts'
import { hasSeveralAmrFrames } from '../formats/amr.ts'
import { withoutDataAudio } from './dataInAudio.ts'
import { readHdrMetadata } from './hdrMetadata.ts'
import { captionChannels } from '../formats/cea/channelScan.ts'
import { hasMultipleCaptionMessages, readUserData } from '../formats/video/userData.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import { readFrameRates } from './commonFrameRate.ts'
import { isDolbyDigital, videoCodecOfSource } from '../plan/codecs.ts'
import { isDownmixed } from '../plan/audio/downmix.ts'
import { requestsHdr } from '../plan/video/hdr.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import { audioSpecifier, usedPids, videoSpecifier } from '../plan/streams/programSelection.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import { probe } from './probe.ts'

export interface ScratchDirs {
  /** Empty directory in which ffmpeg starts. */
  cwd: string
  /** Directory for a temporary file. */
  scratch: string
  signal?: AbortSignal
  /** The extracted frames, if an earlier run extracted them; null = none did. */
  early?: Promise<Uint8Array | null>
}

/** Adds details to the source. Details that could not be read stay unknown: planning then adds a warning. */
export async function readStreamDetails(
  engine: Engine,
  url: string,
  spec: JobSpec,
  probed: MediaInfo,
  dirs: ScratchDirs,
): Promise<MediaInfo> {
  const deep = needsDeepProbe(spec, probed)
  const unnamed = new Map(
    probed.other.flatMap(({ id, codec }) => (id !== null && unnamedAudio.has(codec) ? [[id, codec] as const] : [])),
  )
  const media = deep ? await probe(engine, url, { ...dirs, deep, program: spec.program, unnamed }) : probed
  const input = [...inputFlags(url), ...(deep ? DEEP_PROBE_FLAGS : []), '-i', url]
  const audio = []
  for (const stream of media.audio) {
    audio.push({ ...stream, ...(await readAudioDetails(stream)) })
  }
  const video = media.video === null ? null : { ...media.video, ...(await readVideoDetails(media.video)) }
  return withoutDataAudio(engine, url, { spec, media: { ...media, video, audio } }, dirs)

  async function readAudioDetails(stream: AudioStream): Promise<Partial<AudioStream>> {
    const isAmr = stream.codec.startsWith('amr_') && !engine.features.amrPackets
    if (!isAmr && !isHeaderWanted(spec, stream)) return {}
    const pad = audioSpecifier(usedPids(media), stream.number)
    const flags = ['-map', pad, '-c', 'copy', '-frames:a', '1', '-f', 'data']
    const packet = await extractStream(engine, input, flags, dirs)
    if (!isAmr) return readAc3Header(packet) ?? {}
    return hasSeveralAmrFrames(stream.codec, packet) ? { cannotDecode: amrReason(engine) } : {}
  }

  async function readVideoDetails(stream: VideoStream): Promise<Partial<VideoStream>> {
    const pad = videoSpecifier(usedPids(media))
    const isMeasured = stream.variableFrameRate || stream.rateEvidence !== undefined
    const rates = isMeasured ? await readFrameRates(engine, url, stream, dirs) : {}
    const brightness = requestsHdr(spec, stream) ? await readHdrMetadata(engine, input, pad, dirs) : {}
    const found = await extractVideo(engine, input, pad, stream, dirs)
    if (found === null) return { ...brightness, ...rates }
    const { elementaryStream, codec } = found
    const { captions, activeFormat } = readUserData(elementaryStream, codec)
    return {
      ...brightness,
      ...rates,
      closedCaptions: stream.closedCaptions || captions.length > 0,
      captionChannels: captionChannels(captions),
      severalCaptionMessages: hasMultipleCaptionMessages(elementaryStream, codec),
      activeFormat,
    }
  }
}

function amrReason({ version }: Engine): string {
  return `its packets hold several frames, of which ffmpeg ${version} decodes only the first; ffmpeg 7 decodes all`
}

/** One frame is enough: levels are a property of the programme. */
function isHeaderWanted(spec: JobSpec, stream: AudioStream): boolean {
  if (!isDolbyDigital(stream)) return false
  return spec.audio.some(
    ({ sourceStream, codec, dialnorm, channels }) =>
      sourceStream === stream.number &&
      ((audioCodecs[codec].hasDialnorm && dialnorm === 0) || (channels === 2 && isDownmixed(stream))),
  )
}

/** The channel names of the captions in the video; empty if there are none. Throws only if the signal aborts. */
export async function detectCaptions(
  engine: FfmpegPrograms,
  url: string,
  video: VideoStream,
  dirs: ScratchDirs,
): Promise<string[]> {
  const found = await extractVideo(engine, [...inputFlags(url), '-i', url], '0:V:0', video, dirs)
  return found === null ? [] : captionChannels(readUserData(found.elementaryStream, found.codec).captions)
}

async function extractVideo(
  engine: FfmpegPrograms,
  input: readonly string[],
  pad: string,
  stream: VideoStream,
  dirs: ScratchDirs,
): Promise<{ elementaryStream: Uint8Array; codec: VideoCodec } | null> {
  const codec = videoCodecOfSource(stream.codec)
  if (codec === null) return null
  const early = (await dirs.early) ?? null
  if (early !== null) return { elementaryStream: early, codec }
  // ffmpeg's raw muxer for the codec writes the stream with start codes.
  return { elementaryStream: await extractStream(engine, input, extractArgs(pad, stream.codec), dirs), codec }
}

function extractArgs(pad: string, format: string): string[] {
  return ['-map', pad, '-c', 'copy', '-t', `${VIDEO_SAMPLE_SECONDS}`, '-fs', `${VIDEO_SAMPLE_BYTES}`, '-f', format]
}

/** The most common codec, and the stream specifier of the video in a source of one program. */
const EARLY = { codec: 'h264', pad: videoSpecifier(null) }

/** Whether the frames that `startVideoExtraction` extracts are this source's video. */
export function canExtractEarly(media: MediaInfo): boolean {
  return media.video?.codec === EARLY.codec && videoSpecifier(usedPids(media)) === EARLY.pad
}

/** Starts before the streams of the source are known. Null if that failed. Never rejects. */
export async function startVideoExtraction(
  engine: FfmpegPrograms,
  url: string,
  dirs: ScratchDirs,
): Promise<Uint8Array | null> {
  try {
    const input = [...inputFlags(url), '-i', url]
    const extracted = await extractStream(engine, input, extractArgs(EARLY.pad, EARLY.codec), dirs)
    return extracted.length > 0 ? extracted : null
  } catch {
    return null
  }
}

/**
 * How much of the video is examined. Every frame of a captioned source has caption data, also while no one speaks; a
 * channel is detected when it first contains text. Channels that begin later are kept or removed as well, but cannot be
 * named.
 */
const VIDEO_SAMPLE_SECONDS = 30
const VIDEO_SAMPLE_BYTES = 16 * 1024 * 1024

/** At most this much of a stream is extracted; ffmpeg's `-fs` stops a little after its limit. */
const MAX_EXTRACT_BYTES = 32 * 1024 * 1024

/** Copies packets without decoding. Empty if ffmpeg failed; throws only if the signal aborts. */
async function extractStream(
  engine: FfmpegPrograms,
  input: readonly string[],
  output: readonly string[],
  dirs: ScratchDirs,
): Promise<Uint8Array> {
  // A unique name: two renditions may be examined at the same time.
  const file = join(dirs.scratch, `inspected-${randomUUID()}`)
  const args = [
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    ...input,
    ...output,
    `file:${file}`,
  ]
  try {
    await runFfmpeg(engine, args, {
      cwd: dirs.cwd,
      purpose: 'read captions and audio headers',
      outputFiles: [file],
      limits: { fileBytes: MAX_EXTRACT_BYTES },
      ...(dirs.signal === undefined ? {} : { signal: dirs.signal }),
    })
    dirs.signal?.throwIfAborted()
    return await readFile(file).catch(() => new Uint8Array())
  } finally {
    await rm(file, { force: true })
  }
}
