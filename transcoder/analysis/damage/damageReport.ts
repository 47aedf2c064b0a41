// In charge of: the texts about a source's damage: one warning for each kind, with counts and times, and the error of a
// job that allows fewer errors.
// Not in charge of: detecting damage (damageMonitor.ts).
import type { Warning } from '#contract/errors.ts'
import { TaskError } from '#contract/taskError.ts'
import type { AudioFormat } from './ffmpegMessages.ts'

export interface Gap {
  /** Start of the gap in the outputs, in seconds. */
  seconds: number
  /** Length of the gap in seconds. */
  lengthSeconds: number
}

export interface DamageSummary {
  /** Damaged or undecodable packets: the number, and the positions (only some of them if there are very many). */
  packets: EventCount
  frames: EventCount
  /** Other errors of the demuxer and the decoders. */
  messages: EventCount & { first: string }
  gaps: readonly Gap[]
  /** No damage. */
  formatChanges?: readonly FormatChange[] | undefined
  /** No damage. */
  sizeChanges?: readonly SizeChange[] | undefined
  /** Seconds in the outputs from which frames have limited range behind full range. No damage. */
  rangeChanges?: readonly number[] | undefined
  /** The number that is compared with `max_source_errors`. */
  total: number
}

/** Audio that has another layout or sample rate from here on. */
export interface FormatChange extends AudioFormat {
  /** In the outputs. */
  seconds: number
}

/** Frames that have another size than the first ones from here on. */
export interface SizeChange {
  width: number
  height: number
  /** In the outputs. */
  seconds: number
}

export interface EventCount {
  count: number
  seconds: readonly number[]
}

export const LIMIT_FIELD = 'max_source_errors'
const MAX_TIMES = 10

/**
 * The same damage is reported as packets and frames, or as messages: the larger number counts, so that it is not
 * counted twice.
 */
export function totalEvents({ packets, frames, messages, gaps }: Omit<DamageSummary, 'total'>): number {
  return Math.max(packets.count + frames.count, messages.count) + gaps.length
}

/** Damage of all pieces of a joined source. The pieces count times on the clock of the outputs already. */
export function joinDamage(pieces: readonly DamageSummary[]): DamageSummary {
  const counted = (of: (found: DamageSummary) => EventCount): EventCount => ({
    count: pieces.reduce((sum, found) => sum + of(found).count, 0),
    seconds: pieces.flatMap((found) => of(found).seconds),
  })
  return {
    packets: counted(({ packets }) => packets),
    frames: counted(({ frames }) => frames),
    messages: {
      ...counted(({ messages }) => messages),
      first: pieces.find(({ messages }) => messages.first !== '')?.messages.first ?? '',
    },
    gaps: pieces.flatMap(({ gaps }) => gaps),
    formatChanges: pieces.flatMap(({ formatChanges = [] }) => formatChanges),
    sizeChanges: pieces.flatMap(({ sizeChanges = [] }) => sizeChanges),
    rangeChanges: pieces.flatMap(({ rangeChanges = [] }) => rangeChanges),
    total: pieces.reduce((sum, { total }) => sum + total, 0),
  }
}

/** More silence than this in a source without any other fault may also be a fault of the decoder. */
const DOUBTFUL_SHARE = 0.05

/** Empty for an undamaged source. `seconds`: length of the outputs; null = unknown. `ffmpeg`: the version that decoded. */
export function damageWarnings(found: DamageSummary, seconds: number | null, ffmpeg: string): Warning[] {
  const { packets, frames, messages, gaps, formatChanges = [], sizeChanges = [], rangeChanges = [] } = found
  const warnings: Warning[] = [...formatWarnings(formatChanges), ...sizeWarnings(sizeChanges)]
  if (rangeChanges.length > 0)
    warnings.push({
      code: 'source_range_changes',
      message: `The video of the source goes from full to limited range at ${listTimes(rangeChanges)}, and ffmpeg does not convert that: from there on the outputs have 12 % less contrast. Bring the source to one range first.`,
    })
  if (packets.count > 0)
    warnings.push({
      code: 'decode_errors',
      message: `The source is damaged: ${plural(packets.count, 'packet')} could not be decoded, or arrived damaged, at about ${listTimes(packets.seconds)}.`,
    })
  else if (messages.count > frames.count)
    warnings.push({
      code: 'decode_errors',
      message: `The source is damaged: reading it gave ${plural(messages.count, 'error')} (the first: ${messages.first}) at about ${listTimes(messages.seconds)}.`,
    })
  if (frames.count > 0)
    warnings.push({
      code: 'frames_concealed',
      message: `The source is damaged: parts of ${plural(frames.count, 'frame')} were lost and are concealed, at about ${listTimes(frames.seconds)}.`,
    })
  if (gaps.length > 0) {
    const length = gaps.reduce((sum, gap) => sum + gap.lengthSeconds, 0)
    const isDoubtful = seconds !== null && length > seconds * DOUBTFUL_SHARE && found.total === gaps.length
    warnings.push({
      code: 'audio_gaps_filled',
      message: [
        `The source’s audio has ${plural(gaps.length, 'gap')} of ${length.toFixed(2)} s in total, filled with silence, at about ${listTimes(gaps.map((gap) => gap.seconds))}.`,
        ...(isDoubtful
          ? [`Nothing else is wrong with the source: nothing was recorded there, or ffmpeg ${ffmpeg} cannot decode it.`]
          : []),
      ].join(' '),
    })
  }
  return warnings
}

function formatWarnings(changes: readonly FormatChange[]): Warning[] {
  return [...Map.groupBy(changes, ({ stream }) => stream)].map(([stream, own]) => {
    const first = own
      .slice(0, MAX_TIMES)
      .map(({ seconds, layout, sampleRate }) => `${clock(Math.max(0, seconds))} (${layout}, ${sampleRate} Hz)`)
    const more = own.length > MAX_TIMES ? ` and at ${own.length - MAX_TIMES} later times` : ''
    return {
      code: 'audio_format_changes',
      message: `Audio stream ${stream} of the source changes its format at ${first.join(', ')}${more}: each part is mixed as its own channels need it.`,
    }
  })
}

function sizeWarnings(changes: readonly SizeChange[]): Warning[] {
  // Two runs may both decode the frames between them.
  const places = [...new Set(changes.map(({ seconds, width, height }) => `${clock(seconds)} (${width}x${height})`))]
  if (places.length === 0) return []
  const more = places.length > MAX_TIMES ? ` and at ${places.length - MAX_TIMES} later times` : ''
  return [
    {
      code: 'source_size_changes',
      message: `The video of the source changes its size at ${places.slice(0, MAX_TIMES).join(', ')}${more}: these parts are fitted into the shape of its beginning.`,
    },
  ]
}

/** One line for the log. */
export function describeDamage({ packets, frames, messages, gaps }: DamageSummary): string {
  return `${plural(packets.count, 'packet')}, ${plural(frames.count, 'frame')}, ${plural(messages.count, 'message')}, ${plural(gaps.length, 'gap')}`
}

export function tooManyErrors(found: DamageSummary, limit: number): TaskError {
  const message = `The source has more errors than ${LIMIT_FIELD} allows (${limit}): ${found.total} were found when the job was ended (${describeDamage(found)}).`
  return new TaskError('too_many_source_errors', message, {
    field: LIMIT_FIELD,
    details: {
      allowed: limit,
      found: found.total,
      decode_errors: Math.max(found.packets.count, found.messages.count),
      frames_concealed: found.frames.count,
      audio_gaps: found.gaps.length,
    },
  })
}

export function undecodableVideo(packets: number): TaskError {
  return new TaskError(
    'source_damaged',
    `The source is damaged: most of its video, ${packets} packets, could not be decoded.`,
  )
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Each second once, and no more of them than a person would read. */
function listTimes(seconds: readonly number[]): string {
  const whole = [...new Set(seconds.map((each) => Math.max(0, Math.floor(each))))].toSorted((a, b) => a - b)
  const times = whole.slice(0, MAX_TIMES).map(clock).join(', ')
  return whole.length > MAX_TIMES ? `${times} and at later times until ${clock(whole.at(-1)!)}` : times
}

/** `H:MM:SS`. */
export function clock(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(Math.floor(seconds) % 60)}`
}
