// In charge of: which PCM streams of a source hold data instead of sound, by a look at their first seconds, or at the
// middle where they begin with silence.
// Not in charge of: recognising it (formats/dataBursts.ts), what follows (plan/audio/missingAudio.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { runFfmpeg, type FfmpegPrograms } from '../ffmpeg/run.ts'
import { dataType, isReadable } from '../formats/dataBursts.ts'
import type { AudioStream, MediaInfo } from '../plan/model/mediaInfo.ts'
import { usedAudioStreams } from '../plan/streams/outputTiming.ts'
import { audioSpecifier, usedPids } from '../plan/streams/programSelection.ts'

interface ScratchDirs {
  cwd: string
  scratch: string
  signal?: AbortSignal
}

/** Codecs that keep every bit. */
const EXACT = /^(?:pcm_(?:s16|s24|s32|bluray|dvd)|s302m)/
/** Bursts come 25 times a second or more often. */
const LOOK_SECONDS = 1
/** More are not looked at. */
const MOST_STREAMS = 16
/** Seconds of a source whose middle is worth a look. */
const LONG = 10

/** The source, where streams of data are no audio any more. Throws only if the signal aborts. */
export async function withoutDataAudio(
  engine: FfmpegPrograms,
  url: string,
  { spec, media }: { spec: JobSpec; media: MediaInfo },
  dirs: ScratchDirs,
): Promise<MediaInfo> {
  const streams = media.audio.filter(({ codec }) => EXACT.test(codec)).slice(0, MOST_STREAMS)
  const used = usedAudioStreams(spec)
  if (!streams.some(({ number }) => used.includes(number))) return media
  let read = await samplesOf(engine, url, { media, streams, at: 0 }, dirs)
  const { durationSeconds } = media
  if (durationSeconds !== null && durationSeconds > LONG && read.some((channels) => channels.every(isSilent)))
    read = await samplesOf(engine, url, { media, streams, at: durationSeconds / 2 }, dirs)
  const found = new Map<AudioStream, string>()
  /** The streams that have readable bursts in both channels, or in the one that each has. */
  const pairs = new Map<AudioStream, AudioStream[]>()
  for (const [index, stream] of streams.entries()) {
    const channels = read[index] ?? []
    const own = channels.flatMap(
      (samples, at) => dataType(samples, null) ?? dataType(samples, channels[at + 1] ?? samples) ?? [],
    )
    if (own[0] !== undefined) found.set(stream, own[0])
    if (channels.length === 2 && dataType(channels[0]!, channels[1]!) === own[0]) pairs.set(stream, [stream])
    const next = streams[index + 1]
    const [left, right] = [channels[0], read[index + 1]?.[0]]
    // The two channels of a pair in tracks of their own.
    const pair = channels.length === 1 && read[index + 1]?.length === 1 ? dataType(left!, right!) : null
    if (pair === null || next === undefined) continue
    for (const each of [stream, next]) {
      found.set(each, pair)
      pairs.set(each, [stream, next])
    }
  }
  const pids = usedPids(media)
  const data = [...found].map(([stream, name]) => {
    const { index, id, number, codec, language } = stream
    const pads = isReadable(name) ? pairs.get(stream)?.map((each) => audioSpecifier(pids, each.number)) : undefined
    const about = { index, id, type: 'audio data', codec: `${name} in ${codec}`, language, audioNumber: number }
    return pads === undefined ? about : { ...about, bursts: { samples: stream, pads } }
  })
  return { ...media, audio: media.audio.filter((stream) => !found.has(stream)), other: [...media.other, ...data] }
}

/** The decoder of AES3 leaves out a packet that begins with a burst. */
export function keepData(streams: readonly Pick<AudioStream, 'codec'>[]): string[] {
  return streams.some(({ codec }) => codec === 's302m') ? ['-non_pcm_mode', 'copy'] : []
}

function isSilent(samples: Int32Array): boolean {
  return samples.every((sample) => sample === 0)
}

/** By stream and channel, as samples of 32 bits. Empty where they could not be read. */
async function samplesOf(
  engine: FfmpegPrograms,
  url: string,
  { media, streams, at }: { media: MediaInfo; streams: readonly AudioStream[]; at: number },
  { cwd, scratch, signal }: ScratchDirs,
): Promise<Int32Array[][]> {
  const files = streams.map(() => join(scratch, `samples-${randomUUID()}`))
  const args = [
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    ...(at === 0 ? [] : ['-ss', at.toFixed(3)]),
    ...[...inputFlags(url), ...keepData(streams), '-i', url],
    ...streams.flatMap(({ number }, index) => [
      ...['-map', audioSpecifier(usedPids(media), number), '-t', `${LOOK_SECONDS}`],
      ...['-c:a', 'pcm_s32le', '-f', 's32le', `file:${files[index]}`],
    ]),
  ]
  try {
    await runFfmpeg(engine, args, {
      cwd,
      purpose: 'look for data in the audio',
      outputFiles: files,
      ...(signal === undefined ? {} : { signal }),
    })
    signal?.throwIfAborted()
    return await Promise.all(
      streams.map(async ({ channels }, index) =>
        split(await readFile(files[index]!).catch(() => Buffer.alloc(0)), channels),
      ),
    )
  } finally {
    await Promise.all(files.map((file) => rm(file, { force: true })))
  }
}

function split(bytes: Buffer, channels: number): Int32Array[] {
  const frames = Math.floor(bytes.length / 4 / channels)
  return Array.from({ length: channels }, (_, channel) =>
    Int32Array.from({ length: frames }, (_sample, at) => bytes.readInt32LE(4 * (at * channels + channel))),
  )
}
