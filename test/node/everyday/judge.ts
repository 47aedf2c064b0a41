// In charge of: comparing what a viewer gets of an output with what the source has: each picture at its time, sound in
// sync and at its level in every second, the shape, both ends.
// Not in charge of: decoding (watch.ts), which files are compared.
import { BEEP, TONES } from './card.ts'
import type { Picture, Seen, Sound } from './watch.ts'

const RATE = 48_000
/** Seconds. EBU R 37 allows more; docs/sources.md promises 10 ms, and the beginning of a beep is read to 2 ms. */
const SYNC = 0.014
/** Decibels between two seconds of one channel, beside what they differ in the source. */
const LEVEL = 2
const SILENCE = -55
/** Relative: an even width of a small rendition, blurred edges. */
const SHAPE = 0.08

/** Everything in which `output` is not what `source` is, as sentences. */
export function compare(source: Seen, output: Seen): string[] {
  if (source.pictures.length === 0)
    return output.pictures.length > 0 ? ['it has pictures'] : soundFaults(source, output, 0)
  if (output.pictures.length === 0) return ['it has no pictures']
  // A real file, in which no picture names its time: its lengths and its gaps.
  if (source.pictures.every(({ shape }) => shape === null)) return lengthFaults(source, output)
  const shift = delayOf(source.pictures, output.pictures)
  if (shift === null) return ['no picture of the source is in it']
  return [
    ...pictureFaults(source, output, shift),
    ...shapeFaults(source, output, shift),
    ...soundFaults(source, output, shift),
  ]
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Seconds by which pictures are later in the output than in the source. */
function delayOf(source: readonly Picture[], output: readonly Picture[]): number | null {
  const bySecond = new Map(source.map(({ mark, second }) => [mark, second]))
  const delays = output
    .filter(({ mark }, index) => mark !== output[index - 1]?.mark && bySecond.has(mark))
    .map(({ mark, second }) => second - bySecond.get(mark)!)
  return delays.length === 0 ? null : median(delays)
}

/** Time between pictures of a steady rate. */
const intervalOf = (pictures: readonly Picture[]): number =>
  pictures.length < 2 ? 0.04 : median(pictures.slice(1).map(({ second }, index) => second - pictures[index]!.second))

/** Do pictures follow each other at one rate? A browser on a busy machine skips some, and the times of others move. */
function isSteady(pictures: readonly Picture[]): boolean {
  const usual = intervalOf(pictures)
  const odd = pictures.slice(1).filter(({ second }, at) => Math.abs(second - pictures[at]!.second - usual) > usual / 8)
  return odd.length <= 2
}

const at = (second: number): string => `${second.toFixed(3)} s`

/** The first three, and how many more. */
function summed(faults: readonly string[]): string[] {
  return faults.length <= 3 ? [...faults] : [...faults.slice(0, 3), `… ${faults.length - 3} more of this kind`]
}

function lengthFaults(source: Seen, output: Seen): string[] {
  const step = intervalOf(output.pictures)
  const begins = source.pictures[0]!.second
  const whole = Math.max(source.videoSeconds, soundEnd(source.sound) - begins)
  const faults: string[] = []
  if (output.videoSeconds < source.videoSeconds - 2 * step || output.videoSeconds > whole + 2 * step)
    faults.push(`the video lasts ${at(output.videoSeconds)} instead of ${at(source.videoSeconds)}`)
  if (source.sound === null || output.sound === null) return faults
  const [had, has] = [source.sound, output.sound].map(
    ({ channels: [samples = new Float32Array()] }) => samples.length / RATE,
  )
  return Math.abs(has! - had!) > 0.12 + Math.abs(whole - had!)
    ? [...faults, `the sound lasts ${at(has!)} instead of ${at(had!)}`]
    : faults
}

function pictureFaults(source: Seen, output: Seen, shift: number): string[] {
  const step = intervalOf(output.pictures)
  const slack = 0.75 * step + 0.005
  const begins = source.pictures[0]!.second
  const ends = begins + source.videoSeconds
  const next = (index: number): number => source.pictures[index + 1]?.second ?? ends
  const wrong = output.pictures.flatMap(({ second, mark }) => {
    const time = second - shift
    const isRight = source.pictures.some(
      (picture, index) => picture.mark === mark && time > picture.second - slack && time < next(index) + slack,
    )
    if (isRight) return []
    // The first picture is held where sound begins before it, the last one where sound lasts longer.
    if (time < begins && mark === source.pictures[0]!.mark) return []
    if (time >= ends && mark === source.pictures.at(-1)!.mark) return []
    const shown = source.pictures.findLast((picture) => picture.second <= time + step / 2)
    return [`at ${at(time)} it shows the picture ${mark} instead of ${shown?.mark ?? 'none'}`]
  })
  const marks = new Set(output.pictures.map(({ mark }) => mark))
  const shortest = isSteady(source.pictures) ? 0.95 : 1.1
  const lost = source.pictures.flatMap(({ mark, second }, index) =>
    // A rate below that of the source cannot show all of its pictures.
    marks.has(mark) || next(index) - second < step * shortest ? [] : [`the picture ${mark} of ${at(second)} is lost`],
  )
  const repeated = output.pictures.flatMap(({ second }, index) => {
    const gap = second - (output.pictures[index - 1]?.second ?? second)
    return gap > 1.6 * step || (index > 0 && gap <= 0) ? [`pictures are ${at(gap)} apart at ${at(second - shift)}`] : []
  })
  const last = output.pictures.at(-1)!.second - output.pictures[0]!.second + step
  const whole = Math.max(source.videoSeconds, soundEnd(source.sound) - begins)
  const ending =
    last < source.videoSeconds - 1.6 * step - 0.01 || last > whole + 1.6 * step + 0.05
      ? [`the video lasts ${at(last)} instead of ${at(source.videoSeconds)}`]
      : []
  return [...summed(wrong), ...summed(lost), ...summed(repeated), ...ending]
}

function shapeFaults(source: Seen, output: Seen, shift: number): string[] {
  return summed(
    output.pictures.flatMap(({ second, shape }) => {
      const time = second - shift + 0.001
      const shown = source.pictures.findLast((picture) => picture.second <= time) ?? source.pictures[0]!
      if (shown.shape === null || Math.abs(time - shown.second) < 0.06) return []
      if (shape === null) return [`at ${at(time)} the corners are not where they belong`]
      return Math.abs(shape / shown.shape - 1) <= SHAPE
        ? []
        : [`at ${at(time)} the shape is ${shape.toFixed(2)} instead of ${shown.shape.toFixed(2)}`]
    }),
  )
}

const soundEnd = (sound: Sound | null): number =>
  sound === null ? 0 : sound.start + (sound.channels[0]?.length ?? 0) / RATE

/** Amplitude of a frequency in a part of the samples. */
function amplitude(samples: Float32Array, from: number, length: number, hertz: number): number {
  let [real, imaginary] = [0, 0]
  const end = Math.min(samples.length, from + length)
  for (let index = Math.max(0, from); index < end; index += 1) {
    const angle = (2 * Math.PI * hertz * index) / RATE
    real += samples[index]! * Math.cos(angle)
    imaginary += samples[index]! * Math.sin(angle)
  }
  return (2 * Math.hypot(real, imaginary)) / length
}

/** Times at which beeps begin, on the clock of the file. */
export function beeps({ start, channels }: Sound): number[] {
  const [samples] = channels as [Float32Array]
  const [window, hop] = [240, 48]
  const levels = Array.from({ length: Math.max(0, Math.floor((samples.length - window) / hop)) }, (_, index) =>
    amplitude(samples, index * hop, window, BEEP),
  )
  const threshold = Math.max(0.08, Math.max(0, ...levels) / 2)
  const found: number[] = []
  let quiet = 0
  for (const [index, level] of levels.entries()) {
    if (level >= threshold && quiet >= 100) found.push(start + (index * hop + window / 2) / RATE)
    quiet = level >= threshold ? 0 : quiet + 1
  }
  return found
}

const decibels = (value: number): number => 20 * Math.log10(Math.max(value, 1e-6))

/** Over 0.6 s, in windows of 30 ms: packets whose times waver, as those of browsers, break the phase of a tone. */
function toneLevel(samples: Float32Array, from: number, hertz: number): number {
  const [window, count] = [0.03 * RATE, 20]
  const powers = Array.from(
    { length: count },
    (_, index) => amplitude(samples, from + index * window, window, hertz) ** 2,
  )
  return decibels(Math.sqrt(powers.reduce((sum, power) => sum + power, 0) / count))
}

/** Channel of a source that is heard in this channel of an output. */
const counterpart = (sound: Sound, channel: number): Float32Array =>
  sound.channels[Math.min(channel, sound.channels.length - 1)]!

function soundFaults(source: Seen, output: Seen, shift: number): string[] {
  if (source.sound === null) return output.sound === null ? [] : ['it has sound']
  if (output.sound === null || output.sound.channels.length === 0) return ['it has no sound']
  const [was, is] = [source.sound, output.sound]
  const faults: string[] = []
  if (is.overlap > 0.005) faults.push(`packets of sound lie over each other for ${at(is.overlap)}`)
  const [wanted, heard] = [beeps(was), beeps(is).map((second) => second - shift)]
  for (const second of wanted) {
    const nearest = heard.reduce(
      (best, one) => (Math.abs(one - second) < Math.abs(best - second) ? one : best),
      Infinity,
    )
    const late = nearest - second
    if (!(Math.abs(late) <= 0.3)) faults.push(`the beep of ${at(second)} is lost`)
    else if (Math.abs(late) > SYNC) faults.push(`the beep of ${at(second)} is ${at(late)} late`)
  }
  if (heard.length > wanted.length) faults.push(`it has ${heard.length} beeps instead of ${wanted.length}`)
  const end = Math.max(soundEnd(was), (source.pictures[0]?.second ?? 0) + source.videoSeconds)
  if (soundEnd(is) - shift < soundEnd(was) - 0.06 || soundEnd(is) - shift > end + 0.1)
    faults.push(`the sound ends at ${at(soundEnd(is) - shift)} instead of ${at(soundEnd(was))}`)
  return [...summed(faults), ...summed(levelFaults(was, is, shift))]
}

/** Level of a channel's own tone in each second between its beeps, against the source's. */
function levelFaults(was: Sound, is: Sound, shift: number): string[] {
  const seconds = Math.floor(soundEnd(was))
  return is.channels.slice(0, 2).flatMap((samples, channel) => {
    const origin = counterpart(was, channel)
    const rows = Array.from({ length: Math.max(0, seconds) }, (_, second) => second)
      .map((second) => ({ second, from: second + 0.2 }))
      .filter(({ from }) => from > was.start + 0.05 && from + 0.6 < soundEnd(was))
      .map(({ second, from }) => {
        const level = (part: Float32Array, start: number): number =>
          Math.max(...TONES.slice(0, 2).map((hertz) => toneLevel(part, Math.round((from - start) * RATE), hertz)))
        return { second, had: level(origin, was.start), has: level(samples, is.start - shift) }
      })
    const heard = rows.filter(({ had }) => had > SILENCE + 15)
    const gain = heard.length === 0 ? 0 : median(heard.map(({ had, has }) => has - had))
    const name = `channel ${channel + 1}`
    const wrong = rows.flatMap(({ second, had, has }) => {
      if (had > SILENCE + 15 && Math.abs(has - had - gain) > LEVEL)
        return [`${name} has ${has.toFixed(1)} dB in second ${second}; the source has ${had.toFixed(1)} dB`]
      return had < SILENCE && has > SILENCE + 15 ? [`${name} is not silent in second ${second}`] : []
    })
    // A mix of 5.1 is quieter by design.
    const quieter = was.channels.length > is.channels.length ? -9 : -3.5
    return gain < quieter || gain > 3.5 ? [`${name} is ${gain.toFixed(1)} dB louder than the source`, ...wrong] : wrong
  })
}
