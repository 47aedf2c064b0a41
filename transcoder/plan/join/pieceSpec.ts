// In charge of: one piece of a joined source as a job of its own: its cut and its audio streams, and its errors and
// warnings in the terms of the request.
// Not in charge of: joining (planJoin.ts).
import type { Warning } from '#contract/errors.ts'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'

const CUT_FIELDS = new Set(['start_seconds', 'end_seconds'])

export function pieceField(piece: number): string {
  return `inputs[${piece}]`
}

/** The stream of a piece for `source_stream` of an audio profile; null = silence. */
export function streamOfPiece(spec: JobSpec, piece: number, requested: number): number | null {
  const { [requested]: mapped } = spec.inputs?.[piece]?.sourceStreams ?? {}
  return mapped === undefined ? requested : mapped
}

/** With `media`, audio that the piece lacks is not asked for. Loudness belongs to the joined source. */
export function pieceSpec(spec: JobSpec, piece: number, media: MediaInfo | null): JobSpec {
  const has = (stream: number | null) =>
    stream !== null && (media === null || media.audio.some(({ number }) => number === stream)) ? stream : null
  return {
    ...spec,
    cut: spec.inputs?.[piece]?.cut ?? null,
    inputs: null,
    loudnessLufs: null,
    audio: spec.audio.map((profile) => ({
      ...profile,
      sourceStream: profile.sourceStream === null ? null : has(streamOfPiece(spec, piece, profile.sourceStream)),
    })),
  }
}

/** A plan has at most 200 warnings. */
export const MAX_WARNINGS = 60

/** Warnings about several pieces in the same words become one. */
export function joinWarnings(ofPieces: readonly (readonly Warning[])[]): Warning[] {
  const found = new Map<string, { warning: Warning; pieces: number[] }>()
  for (const [piece, warnings] of ofPieces.entries())
    for (const warning of warnings) {
      const key = JSON.stringify(warning)
      const known = found.get(key)
      if (known === undefined) found.set(key, { warning, pieces: [piece] })
      else known.pieces.push(piece)
    }
  return [...found.values()].slice(0, MAX_WARNINGS).map(({ warning, pieces }) => {
    const { field } = warning
    const own = field !== undefined && CUT_FIELDS.has(field) ? `${pieceField(pieces[0]!)}.${field}` : field
    return {
      ...warning,
      message: `${pieces.map(pieceField).join(', ')}: ${warning.message}`,
      ...(own === undefined ? {} : { field: own }),
    }
  })
}

/** An error about a piece says which. Other errors stay as they are. */
export function pieceError(piece: number, error: unknown): unknown {
  if (!(error instanceof TaskError) || error.field?.startsWith('inputs[') === true) return error
  const { field } = error
  return new TaskError(error.code, `${pieceField(piece)}: ${error.message}`, {
    field:
      field === undefined || field === 'input'
        ? pieceField(piece)
        : CUT_FIELDS.has(field)
          ? `${pieceField(piece)}.${field}`
          : field,
    details: { ...error.details, input: piece },
    cause: error,
  })
}

export function inPiece<T>(piece: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw pieceError(piece, error)
  }
}
