// In charge of: a source's cues as events of the presentation: leaving the programme, returning to it, or other.
// Not in charge of: finding cues (transcoder/formats/scte35/cueScan.ts), pairing them (adBreaks.ts), writing them to
// manifests (cueTags.ts, mpd.ts).
import type { Warning } from '#contract/errors.ts'
import { wrapTicks, ticksBetween, TICKS_PER_SECOND } from '../../formats/mpegts/clock.ts'
import type { Cue } from '../../formats/scte35/cueScan.ts'
import { shiftSpliceTimes, readSplice, type Segmentation, type SpliceInfo } from '../../formats/scte35/spliceInfo.ts'
import { pairCues } from './adBreaks.ts'
import type { CueEvent } from './presentation.ts'

/**
 * segmentation_type_id (ANSI/SCTE 35, table 23) that leaves the programme: break, provider and distributor
 * advertisement, placement opportunity, advertisement block. The next number ends each of them. Overlays and promotions
 * cover or belong to the programme, chapters and programmes are no ad breaks: these are "other".
 */
const AD_BREAK_STARTS = new Set([0x22, 0x30, 0x32, 0x34, 0x36, 0x44, 0x46])

/** The same number as splice points with key frames (plan/streams/cuePlan.ts). */
const MAX_EVENTS = 2000

/** The content of one section about one segment, in ticks of the presentation. */
interface CueStatement {
  kind: CueEvent['kind']
  eventId: number | null
  start: number
  durationTicks: number | null
  /** The end is implicit: auto_return, or a segment with a stated duration. */
  autoReturn: boolean
  section: Uint8Array
}

/**
 * Events by time. The sections use the presentation's 90 kHz clock with `firstPts` at the first frame: 0 for CMAF and
 * DASH, the first PTS for transport streams. Left out: splice_null, bandwidth_reservation, repeated statements (the
 * last one counts), cancelled cues. An implicit end becomes an event with an empty section.
 */
export function cueEvents(cues: readonly Cue[], firstPts = 0): CueEvent[] {
  const statements = new Map<string, CueStatement>()
  // Statements that may still be cancelled, by event id. A map, because a hostile source may contain very many.
  const pending = new Map<number, Map<string, CueStatement>>()
  for (const cue of cues) {
    const info = readSplice(cue.section)
    if (info === null) continue
    for (const eventId of cancellations(info)) {
      // 9.7.3.1: only statements whose time has not yet come can be cancelled.
      for (const [key, { start }] of pending.get(eventId) ?? []) if (start > cue.position.ticks) statements.delete(key)
      pending.delete(eventId)
    }
    const section = shiftSpliceTimes(cue.section, cue.shift + firstPts)
    for (const statement of statementsOf(cue, info, section)) {
      const key = `${statement.kind} ${statement.eventId ?? hash(cue.section)} ${statement.start}`
      statements.set(key, statement)
      if (statement.eventId === null) continue
      const same = pending.get(statement.eventId) ?? new Map<string, CueStatement>()
      pending.set(statement.eventId, same.set(key, statement))
    }
  }
  const all = [...statements.values()].toSorted(byTime)
  return toCueEvents([...all, ...implicitEnds(all)].toSorted(byTime))
}

function cancellations({ command, segmentations }: SpliceInfo): number[] {
  if (command.kind === 'insert') return command.cancelled ? [command.eventId] : []
  return segmentations.filter(({ cancelled }) => cancelled).map(({ eventId }) => eventId)
}

function statementsOf(cue: Cue, info: SpliceInfo, section: Uint8Array): CueStatement[] {
  const { command } = info
  const plain = { eventId: null, durationTicks: null, autoReturn: false, section }
  switch (command.kind) {
    case 'null':
    case 'reservation':
      return []
    case 'insert': {
      if (command.cancelled) return []
      const { eventId, out, break: pause } = command
      const start = timeOf(cue, command.times)
      const durationTicks = pause?.ticks ?? null
      return [
        { kind: out ? 'out' : 'in', eventId, start, durationTicks, autoReturn: pause?.autoReturn ?? false, section },
      ]
    }
    case 'signal': {
      const start = timeOf(cue, command.times)
      const segments = info.segmentations.filter(({ cancelled }) => !cancelled)
      const cancels = info.segmentations.length > segments.length
      if (segments.length === 0) return cancels ? [] : [{ ...plain, kind: 'other', start }]
      return segments.map(({ eventId, durationTicks, type }) => {
        const kind = kindOf(type)
        return { kind, eventId, start, durationTicks, autoReturn: kind === 'out' && durationTicks !== null, section }
      })
    }
    case 'schedule':
    case 'private':
    case 'opaque':
      return [{ ...plain, kind: 'other', start: cue.position.ticks }]
  }
}

function kindOf(type: Segmentation['type']): CueEvent['kind'] {
  if (type === null) return 'other'
  if (AD_BREAK_STARTS.has(type)) return 'out'
  return AD_BREAK_STARTS.has(type - 1) ? 'in' : 'other'
}

/**
 * Ticks of the presentation, near the cue's position: the 33-bit clock may have wrapped. A cue without a time gets its
 * position.
 */
function timeOf({ position, shift }: Cue, times: readonly number[]): number {
  if (times.length === 0) return position.ticks
  // Components may splice one after the other. The programme is left at the first splice.
  return Math.min(
    ...times.map((time) => position.ticks + ticksBetween(wrapTicks(position.ticks), wrapTicks(time + shift))),
  )
}

/**
 * Adds an end for each "out" with an implicit end, unless the next statement of its event is an end. `all` is sorted by
 * time.
 */
function implicitEnds(all: readonly CueStatement[]): CueStatement[] {
  const made: CueStatement[] = []
  const next = new Map<number | null, CueStatement>()
  for (const statement of all.toReversed()) {
    const hasExplicitEnd = next.get(statement.eventId)?.kind === 'in'
    if (statement.kind === 'out' && statement.autoReturn && statement.durationTicks !== null && !hasExplicitEnd)
      made.push({
        ...statement,
        kind: 'in',
        start: statement.start + statement.durationTicks,
        durationTicks: null,
        section: new Uint8Array(0),
      })
    if (statement.kind !== 'other') next.set(statement.eventId, statement)
  }
  return made
}

/** Ids are made from content and time, so that every run gives the same ones. */
function toCueEvents(statements: readonly CueStatement[]): CueEvent[] {
  const used = new Map<string, number>()
  return statements.map(({ kind, eventId, start, durationTicks, section }) => {
    const base = `${kind}-${eventId ?? 'none'}-${start}`
    const count = (used.get(base) ?? 0) + 1
    used.set(base, count)
    return {
      id: count === 1 ? base : `${base}-${count}`,
      start: start / TICKS_PER_SECOND,
      duration: durationTicks === null ? null : durationTicks / TICKS_PER_SECOND,
      kind,
      eventId,
      section,
    }
  })
}

/** At equal times, a segment ends before the next one begins. */
function byTime(a: CueStatement, b: CueStatement): number {
  return a.start - b.start || (a.kind === 'in' ? 0 : 1) - (b.kind === 'in' ? 0 : 1)
}

/**
 * The first events up to the limit, and a warning if there are more: every playlist lists every cue, and must stay
 * below a few megabytes. An "out" whose "in" is dropped is dropped too: otherwise its ad break would last to the end.
 */
export function limitedCues(events: readonly CueEvent[]): { events: CueEvent[]; warnings: Warning[] } {
  if (events.length <= MAX_EVENTS) return { events: [...events], warnings: [] }
  const kept = new Set(events.slice(0, MAX_EVENTS))
  for (const { cue, end } of pairCues(events)) if (end !== null && !kept.has(end)) kept.delete(cue)
  const message = `Playlists and manifests list the first ${kept.size} of ${events.length} cues.`
  return { events: [...kept], warnings: [{ code: 'cues_limited', field: 'scte35_passthough', message }] }
}

/** Distinguishes sections without an event id. */
function hash(section: Uint8Array): string {
  return section.join()
}
