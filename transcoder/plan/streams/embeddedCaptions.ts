// In charge of: caption files of a job as CEA-608 in the frames of its outputs: whether they can be there, and the byte
// pairs of both fields.
// Not in charge of: captions of the source (captionPlan.ts), text tracks (sidecarCaptions.ts), codes (formats/cea).
import type { Warning } from '#contract/errors.ts'
import type { Channel608 } from '#contract/captions.ts'
import { captionField } from '#contract/job/captions.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { CaptionCodes, CaptionFile } from '../../formats/captions/captionFile.ts'
import { flattenCues } from '../../formats/captions/flattenCues.ts'
import type { CaptionFields } from '../../formats/cea/captionFrames.ts'
import { fieldOf } from '../../formats/cea/codes608.ts'
import { encodeCaption } from '../../formats/cea/encoder608.ts'
import { PAIRS_PER_SECOND, scheduleField, type SentPair, type TimedCaption } from '../../formats/cea/schedule608.ts'
import { videoEncodings } from '../codecs.ts'
import type { CutPlan } from '#contract/task/plan/sourceReadingPlan.ts'
import type { PlanContext } from '../planContext.ts'
import { placeCues } from './placeCues.ts'

/** The job asks for it, and its encoder can. */
export function embedsCaptions({ spec, features }: Pick<PlanContext, 'spec' | 'features'>): boolean {
  return asksToEmbed(spec) && canEmbed({ spec, features })
}

export function asksToEmbed({ captions = [], video }: Pick<JobSpec, 'captions' | 'video'>): boolean {
  return video.length > 0 && captions.some(({ embed }) => embed != null)
}

function canEmbed({ spec, features }: Pick<PlanContext, 'spec' | 'features'>): boolean {
  const need = videoEncodings[spec.videoCodec].captionsNeed
  return need === null || features[need]
}

type Remark = Pick<Warning, 'code' | 'field' | 'message'>

interface Embedded {
  fields: CaptionFields
  /** By position in the job; [] = nothing of that file is in the frames. */
  channels: Channel608[][]
  remarks: Remark[]
}

interface Timeline {
  cut: Pick<CutPlan, 'startSeconds'> | null | undefined
  /** Seconds; null = not known. */
  duration: number | null
}

/** `files` are in the order of the job. */
export function embedCaptions(
  { captions = [] }: Pick<JobSpec, 'captions'>,
  files: readonly CaptionFile[],
  times: Timeline,
): Embedded {
  const remarks: Remark[] = []
  const channels: Channel608[][] = captions.map(() => [])
  const encoded: TimedCaption[][] = [[], []]
  const raw: (SentPair[] | null)[] = [null, null]
  const note = (caption: number, code: Warning['code'], message: string, field: string = captionField(caption)) =>
    remarks.push({ code, field, message: `Caption file ${caption}: ${message}` })
  for (const [caption, file] of files.entries()) {
    const embed = captions[caption]?.embed ?? null
    if (embed === null) continue
    const found = file.codes === undefined ? null : channelsOfCodes(file.codes)
    const needed = found === null ? [fieldOf(embed.channel)] : [...new Set(found.map(fieldOf))]
    if (needed.some((field) => raw[field] !== null || (found !== null && encoded[field]!.length > 0))) {
      note(caption, 'captions_not_embedded', SHARED)
      continue
    }
    if (file.codes === undefined || found === null) {
      channels[caption] = [embed.channel]
      encoded[fieldOf(embed.channel)]!.push(...encodeFile(caption, file, embed.channel, times, note))
      continue
    }
    channels[caption] = found
    if (embed.isChosen && found.join() !== embed.channel)
      note(
        caption,
        'no_effect',
        `embed_channel has no effect: an SCC file keeps its own channels (${found.join(', ')}).`,
        `captions[${caption}].embed_channel`,
      )
    for (const field of needed)
      raw[field] = placeCodes(
        file.codes.filter((line) => line.field === field),
        times,
        (code, message) => note(caption, code, message),
      )
  }
  const fields = [0, 1].map((field): SentPair[] => {
    const own = raw[field]
    if (own != null) return own
    const { pairs, late, leftOut } = scheduleField(encoded[field]!)
    for (const [caption, [channel]] of channels.entries()) {
      if (channel === undefined) continue
      const [delays, lost] = [
        late.filter((each) => each.channel === channel),
        leftOut.filter((each) => each === channel).length,
      ]
      if (delays.length > 0)
        note(caption, 'captions_delayed', delayMessage(delays.length, Math.max(...delays.map(({ slots }) => slots))))
      if (lost > 0)
        note(
          caption,
          'captions_left_out',
          `${counted(lost)} left out of the video, because CEA-608 cannot send them in time.`,
        )
    }
    return pairs
  })
  return { fields: [fields[0]!, fields[1]!], channels, remarks }
}

const SHARED =
  'Its captions are not written into the video: the codes of an SCC file are sent as they are, so that no other file can use the same field (CC1 and CC2, or CC3 and CC4). Choose another embed_channel.'

function counted(count: number): string {
  return count === 1 ? 'One caption is' : `${count} captions are`
}

function delayMessage(count: number, slots: number): string {
  return `${count === 1 ? 'One caption appears' : `${count} captions appear`} up to ${(slots / PAIRS_PER_SECOND).toFixed(2)} s late in the video: CEA-608 sends 60 characters per second, and a caption must be complete before it appears.`
}

type Note = (caption: number, code: Warning['code'], message: string) => void

/** At most this many characters are named in a warning. */
const NAMED = 20

function encodeFile(
  caption: number,
  { cues }: CaptionFile,
  channel: Channel608,
  { cut, duration }: Timeline,
  note: Note,
): TimedCaption[] {
  const missing = new Set<string>()
  let rows = 0
  const timed = flattenCues(placeCues(cues, cut, duration)).flatMap((cue): TimedCaption[] => {
    const { groups, ...found } = encodeCaption(cue, channel)
    for (const character of found.missing) missing.add(character)
    rows += found.rowsLeftOut
    const [show, clear] = [slotOf(cue.start), slotOf(cue.end)]
    return clear <= show ? [] : [{ channel, show, clear, groups }]
  })
  if (missing.size > 0) {
    const named = [...missing].slice(0, NAMED).join(' ')
    const more = missing.size > NAMED ? ` and ${missing.size - NAMED} more` : ''
    note(
      caption,
      'captions_characters_replaced',
      `CEA-608 has no code for ${named}${more}. In the video they are written as a similar letter, or as "?".`,
    )
  }
  if (rows > 0)
    note(
      caption,
      'captions_left_out',
      `${rows === 1 ? 'One row is' : `${rows} rows are`} left out of the video: CEA-608 shows 15 rows of 32 characters.`,
    )
  return timed
}

function slotOf(seconds: number): number {
  return Math.round(seconds * PAIRS_PER_SECOND)
}

/** The channels whose commands are in the file. */
function channelsOfCodes(codes: readonly CaptionCodes[]): Channel608[] {
  const found = new Set<Channel608>()
  for (const { pairs, field } of codes)
    for (const pair of pairs)
      if ((pair & 0x7670) === 0x1420) found.add(`CC${1 + 2 * field + ((pair >> 11) & 1)}` as Channel608)
  return [...found].toSorted()
}

/** One pair in a slot, as they are. A line that begins before the outputs is left out as a whole: a part of it would be garbled. */
function placeCodes(
  codes: readonly CaptionCodes[],
  { cut, duration }: Timeline,
  note: (code: Warning['code'], message: string) => void,
): SentPair[] {
  const placed: SentPair[] = []
  const end = duration ?? Infinity
  let [next, delay, late] = [0, 0, 0]
  for (const { start, pairs } of codes) {
    const slot = slotOf(start - (cut?.startSeconds ?? 0))
    if (slot < 0 || start - (cut?.startSeconds ?? 0) >= end) continue
    if (slot < next - 1) {
      late += 1
      delay = Math.max(delay, next - slot)
    }
    next = Math.max(next, slot)
    for (const pair of pairs) placed.push({ slot: next++, pair })
  }
  if (late > 0)
    note(
      'captions_delayed',
      `${late === 1 ? 'A line begins' : `${late} lines begin`} before the codes of the line before are sent, and up to ${(delay / PAIRS_PER_SECOND).toFixed(2)} s late in the video.`,
    )
  return placed
}
