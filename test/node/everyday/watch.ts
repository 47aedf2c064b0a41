// In charge of: what a viewer gets of a file, read with ffmpeg alone: the mark and the shape of every picture with its
// time, and every channel of the sound on the same clock.
// Not in charge of: what it should be (judge.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { readFile } from 'node:fs/promises'
import { ffmpeg, ffprobe, probeFile, type ProbedStream } from '../../support/media/media.ts'
import { CARD, MARK_BITS } from './card.ts'

export interface Picture {
  second: number
  /** Time that the picture names, in hundredths of a second. */
  mark: number
  /** Width of the card divided by its height, as displayed; null where its corners are not where they belong. */
  shape: number | null
}

export interface Sound {
  /** Of the first sample, on the clock of the pictures. */
  start: number
  /** At 48 kHz; time that no packet covers is silence here, as in a player. */
  channels: Float32Array[]
  /** Seconds of samples that have no time of their own: packets that lie over each other. */
  overlap: number
}

export interface Seen {
  pictures: Picture[]
  /** Seconds from the first picture to the end of the last one. */
  videoSeconds: number
  sound: Sound | null
}

const RATE = 48_000
/** Of pictures that are looked at pixel by pixel, in one file of less than 2 GB. */
const MOST_WIDTH = 2000
const TICKS = 90_000

interface Timed {
  pts: number
  duration: number
  size: number
}

/** Lines of ffmpeg's framecrc, in seconds. */
async function readTimes(path: string): Promise<Timed[]> {
  const text = await readFile(path, 'utf8')
  const [, num = '1', den = '1'] = /^#tb 0: (\d+)\/(\d+)/m.exec(text) ?? []
  const unit = Number(num) / Number(den)
  return text
    .split('\n')
    .filter((line) => /^\s*\d/.test(line))
    .map((line) => {
      const [, , pts, duration, size] = line.split(',').map(Number)
      return { pts: pts! * unit, duration: duration! * unit, size: size! }
    })
}

/** Width of a pixel divided by its height. */
function pixelAspect(text: string | undefined): number {
  const [num = 1, den = 1] = (text ?? '1:1').split(':').map(Number)
  return num > 0 && den > 0 ? num / den : 1
}

/** Values of a plane as a function of places in fractions. */
type Plane = (x: number, y: number) => number

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** Where the card lies in the picture, in fractions: between its coloured corners. */
function findCard(u: Plane, v: Plane, width: number, height: number): Box | null {
  const isRed = (x: number, y: number): boolean => v(x, y) > 180 && u(x, y) < 120
  const isGreen = (x: number, y: number): boolean => v(x, y) < 85 && u(x, y) < 110
  const isBlue = (x: number, y: number): boolean => u(x, y) > 190
  const columns = Array.from({ length: width }, (_, x) => (x + 0.5) / width)
  const rows = Array.from({ length: height }, (_, y) => (y + 0.5) / height)
  const extent = (test: (x: number, y: number) => boolean): Box | null => {
    const [xs, ys]: [number[], number[]] = [[], []]
    for (const y of rows)
      for (const x of columns)
        if (test(x, y)) {
          xs.push(x)
          ys.push(y)
        }
    if (xs.length < 12) return null
    // Not the outermost pixels: compression spreads colours.
    const [sx, sy] = [Float64Array.from(xs).toSorted(), Float64Array.from(ys).toSorted()]
    const cut = Math.floor(xs.length * 0.01)
    const last = xs.length - 1 - cut
    const [halfX, halfY] = [0.5 / width, 0.5 / height]
    return { left: sx[cut]! - halfX, right: sx[last]! + halfX, top: sy[cut]! - halfY, bottom: sy[last]! + halfY }
  }
  const [red, green, blue] = [extent(isRed), extent(isGreen), extent(isBlue)]
  if (red === null || green === null || blue === null) return null
  const box = { left: red.left, top: red.top, right: green.right, bottom: blue.bottom }
  return red.right < green.left && red.bottom < blue.top ? box : null
}

function readMark(luma: Plane, card: Box): number {
  const { bits } = CARD
  const step = (bits.right - bits.left) / MARK_BITS
  const y = card.top + (card.bottom - card.top) * ((bits.top + bits.bottom) / 2)
  let mark = 0
  for (let bit = 0; bit < MARK_BITS; bit += 1) {
    const x = card.left + (card.right - card.left) * (bits.left + (bit + 0.5) * step)
    mark = mark * 2 + (luma(x, y) > 125 ? 1 : 0)
  }
  return mark
}

const WHOLE: Box = { left: 0, top: 0, right: 1, bottom: 1 }

/** `display`: of the whole picture, width by height. */
function readPicture(
  pixels: Buffer,
  size: { width: number; height: number },
  display: number,
): Omit<Picture, 'second'> {
  const { width, height } = size
  const plane =
    (start: number, stride: number, lines: number): Plane =>
    (x, y) =>
      pixels[
        start + Math.min(lines - 1, Math.floor(y * lines)) * stride + Math.min(stride - 1, Math.floor(x * stride))
      ]!
  const [half, lines] = [Math.ceil(width / 2), Math.ceil(height / 2)]
  const u = plane(width * height, half, lines)
  const card = findCard(u, plane(width * height + half * lines, half, lines), half, lines)
  const { left, top, right, bottom } = card ?? WHOLE
  const mark = readMark(plane(0, width, height), card ?? WHOLE)
  return { mark, shape: card === null ? null : (display * (right - left)) / (bottom - top) }
}

/** The samples on the clock of the file. */
function layOut(bytes: Buffer, times: readonly Timed[], channels: number): Sound {
  if (times.length === 0) return { start: 0, channels: [], overlap: 0 }
  const start = times[0]!.pts
  const bySample = 4 * channels
  const places: number[] = []
  let [end, overlap] = [0, 0]
  for (const { pts, size } of times) {
    const place = Math.round((pts - start) * RATE)
    // Times of a container are rounded to milliseconds: what is nearer than that follows without a gap.
    const isNext = Math.abs(place - end) < 0.003 * RATE
    if (!isNext && place < end) overlap += (end - place) / RATE
    places.push(isNext ? end : place)
    end = Math.max(end, places.at(-1)! + size / bySample)
  }
  const laid = Array.from({ length: channels }, () => new Float32Array(end))
  let from = 0
  for (const [index, { size }] of times.entries()) {
    for (let at = 0; at < size / bySample; at += 1)
      for (const [channel, samples] of laid.entries())
        samples[places[index]! + at] = bytes.readFloatLE(from + bySample * at + 4 * channel)
    from += size
  }
  return { start, channels: laid, overlap }
}

/**
 * Decodes one rendition. `audio`: where the sound is in a file of its own. Sizes that change are scaled to the first
 * one here; `ownShape` keeps the shape that each picture has in the file. `times`: of the pictures, in order, where
 * ffmpeg does not show them.
 */
export async function watch(
  files: { video: string; audio?: string },
  { ownShape = false, times = [] }: { ownShape?: boolean; times?: readonly number[] } = {},
): Promise<Seen> {
  const { video, audio = video } = files
  const probed = await probeFile(video)
  const picture = firstVideo(probed.streams)
  const sound = (audio === video ? probed : await probeFile(audio)).streams.find(
    ({ codec_type: type, channels }) => type === 'audio' && channels > 0,
  )
  const scratch = (name: string): string => `${video}.${name}`
  const clock = ['-fps_mode', 'passthrough', '-enc_time_base', `1/${TICKS}`]
  const smaller = picture !== undefined && picture.width > MOST_WIDTH ? ['-vf', 'scale=iw/4:-2'] : []
  const pictures = picture === undefined ? [] : ['-map', `0:${probed.streams.indexOf(picture)}`, ...clock, ...smaller]
  const samples =
    sound === undefined ? [] : ['-map', `${audio === video ? 0 : 1}:a:0`, '-ar', `${RATE}`, '-c:a', 'pcm_f32le']
  await ffmpeg([
    ...['-copyts', '-i', video, ...(audio === video ? [] : ['-i', audio])],
    ...(pictures.length === 0 ? [] : [...pictures, '-pix_fmt', 'yuv420p', '-f', 'rawvideo', scratch('yuv')]),
    ...(pictures.length === 0 ? [] : [...pictures, '-pix_fmt', 'yuv420p', '-f', 'framecrc', scratch('vcrc')]),
    ...(sound === undefined ? [] : [...samples, '-f', 'f32le', scratch('f32')]),
    ...(sound === undefined ? [] : [...samples, '-f', 'framecrc', scratch('acrc')]),
  ])
  const shown = picture === undefined ? [] : await readPictures(scratch, picture)
  for (const [index, second] of times.entries()) if (shown[index] !== undefined) shown[index].second = second
  if (ownShape && picture !== undefined) await keepShapes(shown, video, probed.streams.indexOf(picture), picture)
  return {
    pictures: shown.map(({ second, mark, shape }) => ({ second, mark, shape })),
    videoSeconds: shown.length === 0 ? 0 : shown.at(-1)!.second + shown.at(-1)!.duration - shown[0]!.second,
    sound:
      sound === undefined
        ? null
        : layOut(await readFile(scratch('f32')), await readTimes(scratch('acrc')), sound.channels),
  }
}

/** The first one that is no cover and no preview of one picture. */
function firstVideo(streams: readonly ProbedStream[]): ProbedStream | undefined {
  const found = streams.filter(({ codec_type: type }) => type === 'video')
  return found.find(({ codec_name: codec }) => codec !== 'mjpeg' && codec !== 'png') ?? found[0]
}

async function readPictures(
  scratch: (name: string) => string,
  stream: ProbedStream,
): Promise<(Picture & { duration: number })[]> {
  const times = await readTimes(scratch('vcrc'))
  const pixels = await readFile(scratch('yuv'))
  // A rotation swaps both.
  const each = times[0]?.size ?? 0
  const [, head = ''] = /^#dimensions 0: (\d+x\d+)/m.exec(await readFile(scratch('vcrc'), 'utf8')) ?? []
  const [width = stream.width, height = stream.height] = head.split('x').map(Number)
  const aspect = pixelAspect(stream.sample_aspect_ratio)
  const isTurned = width !== stream.width && width === stream.height
  const display = (width / height) * (isTurned ? 1 / aspect : aspect)
  return times.map(({ pts, duration }, index) => ({
    second: pts,
    // Of the last picture, where the container does not say: as long as the one before it.
    duration: duration > 0 ? duration : index > 0 ? pts - times[index - 1]!.pts : 0,
    ...readPicture(pixels.subarray(index * each, (index + 1) * each), { width, height }, display),
  }))
}

/** Replaces the shape of each picture by that of its frame in the file, which the card fills. */
async function keepShapes(pictures: Picture[], path: string, stream: number, first: ProbedStream): Promise<void> {
  const entries = 'frame=width,height,sample_aspect_ratio'
  const { frames } = (await ffprobe(['-select_streams', `${stream}`, '-show_entries', entries], path)) as {
    frames: { width: number; height: number; sample_aspect_ratio?: string }[]
  }
  const upright = pictures[0]?.shape ?? null
  const own = (frame: (typeof frames)[number]): number =>
    (frame.width / frame.height) * pixelAspect(frame.sample_aspect_ratio ?? first.sample_aspect_ratio)
  const turned = upright !== null && frames[0] !== undefined && Math.abs(upright * own(frames[0]) - 1) < 0.1
  for (const [index, picture] of pictures.entries()) {
    const frame = frames[index]
    if (frame !== undefined && picture.shape !== null) picture.shape = turned ? 1 / own(frame) : own(frame)
  }
}
