// In charge of: program_number: which program of a transport stream a job uses, the warnings about the others, and
// ffmpeg's names of its streams.
// Not in charge of: reading the programs (ffprobeJson.ts).
import type { MediaInfo } from '../model/mediaInfo.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import type { PlanContext } from '../planContext.ts'
import { TaskError } from '#contract/taskError.ts'

const FIELD = 'program_number'

/** Throws program_missing where a transport stream does not have the requested program. */
export function requireProgram(context: PlanContext): void {
  const { spec, media } = context
  const { program, programs } = media
  if (spec.program !== null && !media.formats.includes('mpegts')) {
    const message = `${FIELD} has no effect: the source is not a transport stream.`
    context.warn({ code: 'no_effect', field: FIELD, message })
    return
  }
  if (spec.program !== null && program?.number !== spec.program)
    throw new TaskError(
      'program_missing',
      `The source has no program ${spec.program}; it has ${listPrograms(programs)}.`,
      {
        field: FIELD,
        details: { programs },
      },
    )
  if (program === null) return
  const others = programs.filter((number) => number !== program.number)
  if (others.length > 0)
    context.warn({
      code: 'other_programs_left_out',
      field: FIELD,
      message: `Program ${program.number} of the source is used; ${listPrograms(others)} left out.`,
    })
}

function listPrograms(programs: readonly number[]): string {
  return programs.length === 0
    ? 'no programs'
    : `${programs.length === 1 ? 'program' : 'programs'} ${programs.join(', ')}`
}

/** PIDs or indexes of the chosen streams; null where streams are counted over the whole file. */
export function usedPids(media: MediaInfo): Plan['pids'] {
  const pids = chosenPids(media)
  const bursts = media.audio.flatMap(({ number, bursts: taken }) => {
    if (taken === undefined) return []
    const { pads, sampleRate, startSeconds } = taken
    return [{ stream: number, pads, sampleRate, startSeconds }]
  })
  return bursts.length === 0 ? pids : { ...(pids ?? { video: null, audio: {} }), bursts }
}

function chosenPids(media: MediaInfo): Plan['pids'] {
  if (media.selectedBy === 'index') {
    const indexes = media.audio.map(({ number, index }) => [number, index] as const)
    return { video: media.video?.index ?? null, audio: Object.fromEntries(indexes), by: 'index' }
  }
  if (media.program === null && media.selectedBy === undefined) return null
  const audio = media.audio.flatMap(({ number, id }) => (id === null ? [] : [[number, id] as const]))
  return { video: media.video?.id ?? null, audio: Object.fromEntries(audio) }
}

/** ffmpeg's specifier of the video. V, not v: v would include cover art. */
export function videoSpecifier(pids: Plan['pids']): string {
  return pids === null || pids.video === null ? '0:V:0' : specifier(pids, pids.video)
}

/** ffmpeg's specifier of an audio stream, counted from 1. */
export function audioSpecifier(pids: Plan['pids'], number: number): string {
  const input = pids?.bursts?.findIndex(({ stream }) => stream === number) ?? -1
  if (input >= 0) return `${input + 1}:a:0`
  const chosen = pids?.audio[number]
  return pids === null || chosen === undefined ? `0:a:${number - 1}` : specifier(pids, chosen)
}

function specifier({ by }: NonNullable<Plan['pids']>, chosen: number): string {
  return by === 'index' ? `0:${chosen}` : `0:i:${chosen}`
}

/** The specifier of the video. Every stream of a joined source is an input of its own. */
export function videoPad({ reads, pids }: Pick<Plan, 'reads' | 'pids'>): string {
  return reads.kind === 'pieces' ? '0:V:0' : videoSpecifier(pids)
}

export function audioPad({ reads, pids }: Pick<Plan, 'reads' | 'pids'>, number: number): string {
  return reads.kind === 'pieces' ? `${number - (reads.join.canvas === null ? 1 : 0)}:a:0` : audioSpecifier(pids, number)
}
