// In charge of: a transport stream whose streams change their codec: each part is an input of its own, and they are joined.
// Not in charge of: finding the changes (analysis/codecChanges.ts), joining (openInputs.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { findCodecChanges, type CodecChange } from '../../analysis/codecChanges.ts'
import { clock } from '../../analysis/damage/damageReport.ts'
import type { Attempt } from '../../attempt.ts'
import { describeChange } from '../../formats/mpegts/stableMap.ts'
import { pieceStarts } from '../../plan/join/planJoin.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { ByteRange } from '../../source/rangeResponse.ts'
import type { FetchRange } from '../../source/sourceReader.ts'

export interface CodecDivision {
  /** Between the pieces. */
  changes: readonly CodecChange[]
  pieces: readonly FetchRange[]
}

/**
 * The job with the pieces of its source as `inputs`; null if no codec changes, or if the job asks for what inputs cannot
 * have. The server of the attempt then serves the first piece.
 */
export async function divideByCodec(
  { loopback, controller: { signal } }: Pick<Attempt, 'loopback' | 'controller'>,
  spec: JobSpec,
  readers: { end: () => Promise<void> },
): Promise<{ spec: JobSpec; division: CodecDivision } | null> {
  const { size, ranges } = await loopback.open()
  if (!ranges || size === null || !canBeJoined(spec)) return null
  const changes = await findCodecChanges((first, count) => loopback.readRange(first, count, signal), size)
  if (changes.length === 0) return null
  const { input } = loopback
  const starts = [0, ...changes.map(({ from }) => from)]
  const ends = [...changes.map(({ until }) => until), size]
  const pieces = starts.map((first, piece) => rangeInput(input, { first, last: ends[piece]! - 1 }, size))
  await readers.end()
  await loopback.replaceSource(pieces[0]!)
  return {
    spec: { ...spec, inputs: pieces.map(() => ({ cut: null, sourceStreams: {} })) },
    division: { changes, pieces },
  }
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

export function warnCodecChanges(division: CodecDivision | undefined, join: JoinPlan): Warning[] {
  if (division === undefined) return []
  const [, ...starts] = pieceStarts(join)
  const list = division.changes.map(({ streams }, change) => {
    const at = starts[change] === undefined ? '' : ` at ${clock(starts[change])}`
    return `${streams.map(describeChange).join(' and ')}${at}`
  })
  return [
    {
      code: 'codec_changes',
      message: `The source changes its codecs (${list.join(', ')}): it is read in ${division.pieces.length} pieces that are joined as inputs are, and named inputs[0] to inputs[${division.pieces.length - 1}].`,
    },
  ]
}
