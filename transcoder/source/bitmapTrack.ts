// In charge of: the bitmap subtitle track that a job draws: its packets in a local file, what it contains, and a movie of
// its images for the encoder.
// Not in charge of: the formats (formats/bitmapSubtitles), where the images are drawn (plan/video/bitmapPlacement.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { createReadStream } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { rgbaPng } from '../extracts/png.ts'
import { explainExit } from '../ffmpeg/exit.ts'
import { inputFlags } from '../ffmpeg/inputAllowlist.ts'
import { runFfmpeg } from '../ffmpeg/run.ts'
import type { SubtitleDecoder } from '../formats/bitmapSubtitles/displaySet.ts'
import { DvbDecoder } from '../formats/bitmapSubtitles/dvbDecoder.ts'
import { movieEnd, movieStart, MOVIE_TIMESCALE, type MovieSample } from '../formats/bitmapSubtitles/imageMovie.ts'
import { PesReader, SupReader, type SubtitlePacketReader } from '../formats/bitmapSubtitles/packets.ts'
import { PgsDecoder } from '../formats/bitmapSubtitles/pgsDecoder.ts'
import { AreaFinder, drawImages, type DrawnArea } from '../formats/bitmapSubtitles/subtitleArea.ts'
import { SubtitleTimeline, type ShownSubtitle } from '../formats/bitmapSubtitles/subtitleTimeline.ts'
import { DEEP_PROBE_FLAGS } from '../plan/streams/audioStreamCount.ts'
import type { BitmapTrack } from '../plan/model/mediaInfo.ts'
import type { BitmapCodec, BitmapStream } from '../plan/streams/bitmapBurnIn.ts'
import type { Workspace } from '../workspace.ts'

/** More than a day of dense dialogue has. */
const MAX_SUBTITLES = 100_000
/** Pixels of all images. A canvas of 1920 × 1080 every two seconds of a day has fewer; drawing these takes ten minutes. */
const MAX_TRACK_PIXELS = 1e11
/** A film has up to 60 MB. */
const MAX_TRACK_BYTES = 2 ** 30

/** The part of the source that the outputs show. */
export interface ShownStretch {
  /** Seconds on the clock of the source at which the outputs begin. */
  startSeconds: number
  /** Length of the outputs; null = not known. */
  seconds: number | null
}

/** Seconds of the outputs. */
interface Stretch {
  from: number
  to: number
}

const ALL: Stretch = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

/** The packets of a track, in a file of the workspace. */
export interface BitmapPackets {
  file: string
  codec: BitmapCodec
  stream: number
}

/** Where the packets of a track are kept. */
export function bitmapPacketsFile({ out }: Pick<Workspace, 'out'>): string {
  return join(out, 'subtitles.packets')
}

const formats: Record<BitmapCodec, { muxer: readonly string[]; open: () => Opened }> = {
  // Times as they are in the source, to the tick.
  dvb_subtitle: {
    muxer: ['-mpegts_copyts', '1', '-f', 'mpegts'],
    open: () => {
      const reader = new PesReader()
      return { reader, decoder: () => new DvbDecoder(reader.pages) }
    },
  },
  hdmv_pgs_subtitle: {
    muxer: ['-f', 'sup'],
    open: () => ({ reader: new SupReader(), decoder: () => new PgsDecoder() }),
  },
}

interface Opened {
  reader: SubtitlePacketReader
  /** Called with the first packet: the tables of a transport stream come before it. */
  decoder: () => SubtitleDecoder
}

/** Reads the whole source once and keeps the packets of one stream. */
export async function copyBitmapPackets(
  { engine, loopback, workspace, controller }: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  { index, codec }: BitmapStream,
  deepProbe: boolean,
): Promise<BitmapPackets> {
  const file = bitmapPacketsFile(workspace)
  const result = await runFfmpeg(
    engine,
    [
      ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'level+warning', '-nostats', '-progress', 'pipe:1'],
      ...['-copyts', ...inputFlags(loopback.url), ...(deepProbe ? DEEP_PROBE_FLAGS : []), '-i', loopback.url],
      ...['-map', `0:${index}`, '-map_metadata', '-1', '-c', 'copy'],
      ...[...formats[codec].muxer, `file:${file}`],
    ],
    {
      cwd: workspace.cwd,
      purpose: 'read the subtitles',
      signal: controller.signal,
      outputFiles: [file],
      limits: { fileBytes: MAX_TRACK_BYTES, cpuSeconds: 0 },
      // Between two subtitles may be an hour: ffmpeg then only reads.
      bytesRead: () => loopback.bytesServed,
    },
  )
  controller.signal.throwIfAborted()
  const failure = explainExit(result)
  if (failure !== null) throw new TaskError(failure.code, `The subtitles cannot be read. ${failure.message}`)
  return { file, codec, stream: index }
}

/** Every subtitle that is shown in the outputs, in order. */
async function* shownSubtitles(
  { file, codec }: BitmapPackets,
  part: ShownStretch,
  signal: AbortSignal,
  onDamaged: (packets: number) => void = () => undefined,
): AsyncGenerator<ShownSubtitle> {
  const { reader, decoder: newDecoder } = formats[codec].open()
  const timeline = new SubtitleTimeline({ ...part, clockPeriod: reader.clockPeriod })
  let decoder: SubtitleDecoder | null = null
  let [count, pixels] = [0, 0]
  const counted = (shown: ShownSubtitle[]): ShownSubtitle[] => {
    count += shown.length
    if (count > MAX_SUBTITLES || pixels > MAX_TRACK_PIXELS)
      throw new TaskError('source_damaged', 'The subtitle track has more images than any programme could use.')
    return shown
  }
  const blocks = async function* (): AsyncGenerator<ReturnType<SubtitlePacketReader['push']>> {
    for await (const block of createReadStream(file)) yield reader.push(block as Buffer)
    yield reader.end()
  }
  for await (const packets of blocks()) {
    signal.throwIfAborted()
    for (const { ticks, data } of packets) {
      decoder ??= newDecoder()
      for (const set of decoder.decode(data)) {
        pixels += set.images.reduce((sum, { width, height }) => sum + width * height, 0)
        yield* counted(timeline.push(ticks, set))
      }
    }
  }
  yield* counted(timeline.end())
  onDamaged(decoder?.damaged ?? 0)
}

/** What is drawn: how many subtitles, and where. */
export async function measureBitmapTrack(
  packets: BitmapPackets,
  part: ShownStretch,
  signal: AbortSignal,
): Promise<BitmapTrack> {
  const finder = new AreaFinder()
  let [subtitles, damagedPackets] = [0, 0]
  for await (const { canvas, images } of shownSubtitles(packets, part, signal, (count) => (damagedPackets = count))) {
    subtitles += 1
    for (const image of images) finder.add(canvas, image)
  }
  return { stream: packets.stream, drawn: finder.result(), subtitles, damagedPackets }
}

/**
 * The images as a movie: each is shown from its time to the time of the next, with transparent images in between. Memory
 * holds one image, whatever the length of the track. `drawnIn`: images that are not shown there are left out.
 */
export async function writeBitmapMovie(
  packets: BitmapPackets,
  part: ShownStretch,
  drawn: DrawnArea,
  workspace: Pick<Workspace, 'root'>,
  signal: AbortSignal,
  drawnIn: Stretch = ALL,
): Promise<string> {
  const file = join(workspace.root, 'subtitles.mov')
  const movie = await open(file, 'w')
  try {
    await writeImages(movie, packets, part, drawn, signal, drawnIn)
  } finally {
    await movie.close()
    await rm(packets.file, { force: true })
  }
  return file
}

async function writeImages(
  movie: FileHandle,
  packets: BitmapPackets,
  part: ShownStretch,
  drawn: DrawnArea,
  signal: AbortSignal,
  { from, to }: Stretch,
): Promise<void> {
  const { width, height } = drawn.area
  const header = movieStart(0).length
  let end = header
  const append = async (bytes: Uint8Array): Promise<Image> => {
    await movie.write(bytes, 0, bytes.length, end)
    end += bytes.length
    return { offset: end - bytes.length, bytes: bytes.length }
  }
  const blank = await append(await rgbaPng(width, height, new Uint8Array(width * height * 4)))
  const changes: { ticks: number; image: Image }[] = [{ ticks: 0, image: blank }]
  const showFrom = (seconds: number, image: Image): void => {
    const ticks = Math.round(seconds * MOVIE_TIMESCALE)
    // What was to be shown for no time at all is not.
    while (changes.length > 0 && changes.at(-1)!.ticks >= ticks) changes.pop()
    changes.push({ ticks, image })
  }
  for await (const shown of shownSubtitles(packets, part, signal)) {
    if (shown.start >= to || (shown.end !== null && shown.end <= from)) continue
    const pixels = drawImages(drawn, shown.canvas, shown.images)
    showFrom(shown.start, await append(await rgbaPng(width, height, pixels)))
    if (shown.end !== null) showFrom(shown.end, blank)
  }
  const samples = changes.map(({ ticks, image }, index): MovieSample => ({
    ...image,
    duration: (changes[index + 1]?.ticks ?? ticks + 1) - ticks,
  }))
  await append(movieEnd(width, height, samples))
  const mediaBytes = samples.reduce((last, { offset, bytes }) => Math.max(last, offset + bytes), 0) - header
  await movie.write(movieStart(mediaBytes), 0, header, 0)
}

type Image = Pick<MovieSample, 'offset' | 'bytes'>
