// In charge of: what planning must know of a source and ffprobe does not tell: dialogue levels, captions inside the pictures.
// Not in charge of: reading the bytes (ac3.ts, captions/), what follows from them (plan/).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobSpec } from '#contract/spec.ts'
import { readDialnorm } from './ac3.ts'
import { inputFlags } from './ffmpeg/cell.ts'
import { defaultLimits, runFfmpeg, type Programs } from './ffmpeg/run.ts'
import type { MediaInfo } from './plan/media.ts'

export interface Places {
  /** Empty directory that ffmpeg starts in. */
  cwd: string
  /** Directory for a file that is removed at once. */
  scratch: string
  signal?: AbortSignal
}

/** The same source with more known about it. What cannot be found out stays unknown: planning then says so in a warning. */
export async function inspect(
  engine: Programs,
  url: string,
  spec: JobSpec,
  media: MediaInfo,
  places: Places,
): Promise<MediaInfo> {
  const audio = []
  for (const stream of media.audio) {
    const wanted = spec.audio.some(
      (profile) => profile.codec === 'ac3' && profile.dialnorm === 0 && profile.sourceStream === stream.number,
    )
    if (!wanted || !['ac3', 'eac3'].includes(stream.codec)) audio.push(stream)
    // One frame tells it: the level is a property of the programme.
    else
      audio.push({
        ...stream,
        dialnorm: readDialnorm(
          await extract(
            engine,
            url,
            ['-map', `0:a:${stream.number - 1}`, '-c', 'copy', '-frames:a', '1', '-f', 'data'],
            places,
          ),
        ),
      })
  }
  return { ...media, audio }
}

/** At most this much of a stream is taken out; ffmpeg's `-fs` stops a little after its number. */
const LARGEST_EXTRACT_BYTES = 32 * 1024 * 1024

/** Packets as they are, without decoding. Empty where ffmpeg could not; throws only when the signal aborts. */
async function extract(engine: Programs, url: string, output: readonly string[], places: Places): Promise<Uint8Array> {
  const file = join(places.scratch, 'inspected')
  const args = [
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-nostats', '-progress', 'pipe:1'],
    ...inputFlags(url),
    ...['-i', url],
    ...output,
    `file:${file}`,
  ]
  try {
    await runFfmpeg(engine, args, {
      cwd: places.cwd,
      limits: { ...defaultLimits, fileBytes: LARGEST_EXTRACT_BYTES },
      ...(places.signal === undefined ? {} : { signal: places.signal }),
    })
    places.signal?.throwIfAborted()
    return await readFile(file).catch(() => new Uint8Array())
  } finally {
    await rm(file, { force: true })
  }
}
