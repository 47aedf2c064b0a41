// In charge of: what planning must know of a source and ffprobe does not tell: dialogue and downmix levels, brightness of HDR, captions inside the pictures.
// Not in charge of: reading the bytes (formats/ac3.ts, captions/), what follows from them (plan/).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { audioCodecs, type VideoCodec } from '#contract/codecs.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { readAc3Header } from '../formats/ac3.ts'
import { readHdrMetadata } from './hdrMetadata.ts'
import { captionChannels } from '../formats/cea/channelScan.ts'
import { hasMultipleCaptionMessages, readUserData } from '../formats/video/userData.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import type { Engine } from '../ffmpeg/locate.ts'
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import { readCommonFrameRate } from './commonFrameRate.ts'
import { isDolbyDigital, videoCodecOfSource } from '../plan/codecs.ts'
import { isDownmixed } from '../plan/audio/downmix.ts'
import { requestsHdr } from '../plan/video/hdr.ts'
import type { AudioStream, MediaInfo, VideoStream } from '../plan/model/mediaInfo.ts'
import { audioSpecifier, usedPids, videoSpecifier } from '../plan/streams/programSelection.ts'
import { DEEP_PROBE_FLAGS, needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import { probe } from './probe.ts'

export interface ScratchDirs {
  /** Empty directory that ffmpeg starts in. */
  cwd: string
  /** Directory for a file that is removed at once. */
  scratch: string
  signal?: AbortSignal
  /** The pictures, where a run that began earlier took them out; null = none did. */
  early?: Promise<Uint8Array | null>
}

/** The same source with more known about it. What cannot be found out stays unknown: planning then says so in a warning. */
export async function readStreamDetails(
  engine: Engine,
  url: string,
  spec: JobSpec,
  probed: MediaInfo,
  places: ScratchDirs,
): Promise<MediaInfo> {
  const deep = needsDeepProbe(spec, probed)
  const media = deep ? await probe(engine, url, { ...places, deep, program: spec.program }) : probed
  const input = [...inputFlags(url), ...(deep ? DEEP_PROBE_FLAGS : []), '-i', url]
  const audio = []
  for (const stream of media.audio) {
    const header = isHeaderWanted(spec, stream)
      ? readAc3Header(
          await extractStream(
            engine,
            input,
            ['-map', audioSpecifier(usedPids(media), stream.number), '-c', 'copy', '-frames:a', '1', '-f', 'data'],
            places,
          ),
        )
      : null
    audio.push(header === null ? stream : { ...stream, ...header })
  }
  const video = media.video === null ? null : { ...media.video, ...(await lookIntoPictures(media.video)) }
  return { ...media, video, audio }

  async function lookIntoPictures(stream: VideoStream): Promise<Partial<VideoStream>> {
    const pad = videoSpecifier(usedPids(media))
    const commonFrameRate = stream.variableFrameRate ? await readCommonFrameRate(engine, url, stream, places) : null
    const brightness = requestsHdr(spec, stream) ? await readHdrMetadata(engine, input, pad, places) : {}
    const found = await extractVideo(engine, input, pad, stream, places)
    if (found === null) return { ...brightness, commonFrameRate }
    const { pictures, codec } = found
    const { captions, activeFormat } = readUserData(pictures, codec)
    return {
      ...brightness,
      commonFrameRate,
      closedCaptions: stream.closedCaptions || captions.length > 0,
      captionChannels: captionChannels(captions),
      severalCaptionMessages: hasMultipleCaptionMessages(pictures, codec),
      activeFormat,
    }
  }
}

/** One frame tells it: levels are a property of the programme. */
function isHeaderWanted(spec: JobSpec, stream: AudioStream): boolean {
  if (!isDolbyDigital(stream)) return false
  return spec.audio.some(
    ({ sourceStream, codec, dialnorm, channels }) =>
      sourceStream === stream.number &&
      ((audioCodecs[codec].hasDialnorm && dialnorm === 0) || (channels === 2 && isDownmixed(stream))),
  )
}

/** What the captions inside of the pictures are called; empty where there are none. Throws only when the signal aborts. */
export async function detectCaptions(
  engine: FfmpegPrograms,
  url: string,
  video: VideoStream,
  places: ScratchDirs,
): Promise<string[]> {
  const found = await extractVideo(engine, [...inputFlags(url), '-i', url], '0:V:0', video, places)
  return found === null ? [] : captionChannels(readUserData(found.pictures, found.codec).captions)
}

async function extractVideo(
  engine: FfmpegPrograms,
  input: readonly string[],
  pad: string,
  stream: VideoStream,
  places: ScratchDirs,
): Promise<{ pictures: Uint8Array; codec: VideoCodec } | null> {
  const codec = videoCodecOfSource(stream.codec)
  if (codec === null) return null
  const early = (await places.early) ?? null
  if (early !== null) return { pictures: early, codec }
  // ffmpeg's muxer of the codec's name writes it with start codes.
  return { pictures: await extractStream(engine, input, picturesOf(pad, stream.codec), places), codec }
}

function picturesOf(pad: string, format: string): string[] {
  return ['-map', pad, '-c', 'copy', '-t', `${VIDEO_SAMPLE_SECONDS}`, '-fs', `${VIDEO_SAMPLE_BYTES}`, '-f', format]
}

/** The commonest codec, and where its video is in a source of one program. */
const EARLY = { codec: 'h264', pad: videoSpecifier(null) }

/** Whether what `beginPictures` takes out is this source's video. */
export function isTakenEarly(media: MediaInfo): boolean {
  return media.video?.codec === EARLY.codec && videoSpecifier(usedPids(media)) === EARLY.pad
}

/** Before it is known what the source is. Null where that failed. Never rejects. */
export async function beginPictures(
  engine: FfmpegPrograms,
  url: string,
  places: ScratchDirs,
): Promise<Uint8Array | null> {
  try {
    const input = [...inputFlags(url), '-i', url]
    const taken = await extractStream(engine, input, picturesOf(EARLY.pad, EARLY.codec), places)
    return taken.length > 0 ? taken : null
  } catch {
    return null
  }
}

/**
 * How far the pictures are looked into. Caption data is in every picture of a captioned source, also where nobody speaks; the
 * channels show as soon as something is said. What begins later is kept or removed all the same, but cannot be named.
 */
const VIDEO_SAMPLE_SECONDS = 30
const VIDEO_SAMPLE_BYTES = 16 * 1024 * 1024

/** At most this much of a stream is taken out; ffmpeg's `-fs` stops a little after its number. */
const MAX_EXTRACT_BYTES = 32 * 1024 * 1024

/** Packets as they are, without decoding. Empty where ffmpeg could not; throws only when the signal aborts. */
async function extractStream(
  engine: FfmpegPrograms,
  input: readonly string[],
  output: readonly string[],
  places: ScratchDirs,
): Promise<Uint8Array> {
  // Two renditions may be looked into at once.
  const file = join(places.scratch, `inspected-${randomUUID()}`)
  const args = [
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    ...input,
    ...output,
    `file:${file}`,
  ]
  try {
    await runFfmpeg(engine, args, {
      cwd: places.cwd,
      purpose: 'read captions and audio headers',
      creates: [file],
      limits: { fileBytes: MAX_EXTRACT_BYTES },
      ...(places.signal === undefined ? {} : { signal: places.signal }),
    })
    places.signal?.throwIfAborted()
    return await readFile(file).catch(() => new Uint8Array())
  } finally {
    await rm(file, { force: true })
  }
}
