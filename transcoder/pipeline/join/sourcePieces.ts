// In charge of: a source that ffmpeg would read in part only: a transport stream whose streams change their codec, and files
// that were put one behind the other. Each piece is an input of its own, and they are joined.
// Not in charge of: finding the places (analysis/codecChanges.ts, analysis/furtherFiles.ts), joining (openInputs.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { INPUTS } from '#contract/limits.ts'
import { TaskError } from '#contract/taskError.ts'
import { findCodecChanges } from '../../analysis/codecChanges.ts'
import { clock } from '../../analysis/damage/damageReport.ts'
import { NOT_IN_PIECES } from '../../analysis/damage/endedStreams.ts'
import { findFurtherFiles } from '../../analysis/furtherFiles.ts'
import type { Attempt } from '../../attempt.ts'
import { describeChange, type ChangedStream } from '../../formats/mpegts/stableMap.ts'
import { pieceStarts } from '../../plan/join/planJoin.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { ByteRange } from '../../source/rangeResponse.ts'
import type { FetchRange } from '../../source/sourceReader.ts'

/** Between two pieces. */
interface Place {
  /** The first piece is read until here. */
  until: number
  /** The next one from here. */
  from: number
  /** Whose codec changes; empty = a further file begins. */
  streams: readonly ChangedStream[]
}

export interface SplitSource {
  places: readonly Place[]
  pieces: readonly FetchRange[]
}

/**
 * The job with the pieces of its source as `inputs`; null if ffmpeg reads all of it, or if the job asks for what inputs
 * cannot have. The server of the attempt then serves the first piece.
 * @param formats the source's containers, in ffmpeg's names
 * @throws TaskError source_unsupported for further files in a job that cannot join them
 */
export async function splitSource(
  { loopback, controller: { signal } }: Pick<Attempt, 'loopback' | 'controller'>,
  spec: JobSpec,
  formats: readonly string[],
  readers: { end: () => Promise<void> },
): Promise<{ spec: JobSpec; split: SplitSource } | null> {
  const { size, ranges } = await loopback.open()
  if (!ranges || size === null) return null
  const read = (first: number, count: number): Promise<Uint8Array> => loopback.readRange(first, count, signal)
  const isJoined = canBeJoined(spec)
  const files = await findFurtherFiles(formats, read, size)
  if (files.length > 0 && (!isJoined || files.length === INPUTS.maximum)) throw notJoined(files.length + 1)
  const changes = isJoined && formats.includes('mpegts') ? await findCodecChanges(read, size) : []
  const places: Place[] = [...changes, ...files.map((at) => ({ until: at, from: at, streams: [] }))]
  if (places.length === 0) return null
  const { input } = loopback
  const starts = [0, ...places.map(({ from }) => from)]
  const ends = [...places.map(({ until }) => until), size]
  const pieces = starts.map((first, piece) => rangeInput(input, { first, last: ends[piece]! - 1 }, size))
  await readers.end()
  await loopback.replaceSource(pieces[0]!)
  return {
    spec: { ...spec, inputs: pieces.map(() => ({ cut: null, sourceStreams: {} })) },
    split: { places, pieces },
  }
}

function notJoined(files: number): TaskError {
  return new TaskError(
    'source_unsupported',
    `The source is ${files > INPUTS.maximum ? `more than ${INPUTS.maximum}` : files} files put one behind the other, and only the first would be read. At most ${INPUTS.maximum} are joined, and none in a job with ${NOT_IN_PIECES}. Bring each as a file of its own in inputs.`,
    { field: 'input' },
  )
}

function canBeJoined({ cut, audio, waveform }: JobSpec): boolean {
  const isSelected = (stream: number): boolean => audio.some(({ sourceStream }) => sourceStream === stream)
  return (
    cut === null &&
    audio.every(({ sourceChannels }) => sourceChannels == null) &&
    (waveform === null || isSelected(waveform.sourceStream))
  )
}

/** A part of a source as a source of its own. */
function rangeInput(input: FetchRange, { first, last }: ByteRange, size: number): FetchRange {
  const length = last - first + 1
  return async (range, etag, signal) => {
    const from = range?.first ?? 0
    const to = Math.min(range?.last ?? length - 1, length - 1)
    const response = await input({ first: first + from, last: first + to }, etag, signal)
    if (!response.ok) return response
    const found = /^bytes (\d+)-(\d+)\/(\d+)$/
      .exec(response.headers.get('content-range') ?? '')
      ?.slice(1)
      .map(Number)
    if (response.status !== 206 || found?.[2] !== size) {
      await response.body?.cancel()
      throw new TaskError('source_changed', 'The source changed while it was read: it has a different size.')
    }
    const headers = new Headers(response.headers)
    headers.set('accept-ranges', 'bytes')
    headers.set('content-range', `bytes ${found[0]! - first}-${found[1]! - first}/${length}`)
    return new Response(response.body, { status: range === null ? 200 : 206, headers })
  }
}

export function warnPieces(split: SplitSource | undefined, join: JoinPlan): Warning[] {
  if (split === undefined) return []
  const { places, pieces } = split
  const [, ...starts] = pieceStarts(join)
  const at = (place: number): string => (starts[place] === undefined ? '' : ` at ${clock(starts[place])}`)
  const named = `joined as inputs are, and named inputs[0] to inputs[${pieces.length - 1}]`
  if (places.every(({ streams }) => streams.length === 0)) {
    const begins = places.map((_place, place) => at(place)).filter((time) => time !== '')
    const times = begins.length === 0 ? '' : ` (the next begins${begins.join(',')})`
    return [
      {
        code: 'files_joined',
        message: `The source is ${pieces.length} files put one behind the other${times}. A player shows the first one alone; they are ${named}.`,
      },
    ]
  }
  const list = places.map(({ streams }, place) => `${streams.map(describeChange).join(' and ')}${at(place)}`)
  return [
    {
      code: 'codec_changes',
      message: `The source changes its codecs (${list.join(', ')}): it is read in ${pieces.length} pieces that are ${named}.`,
    },
  ]
}
