// In charge of: checking the transcoder of each slot: the container of its Durable Object, one of TRANSCODER_URLS, or
// one that registered itself.
// Starts none.
// Not in charge of: giving them work (scheduler/dispatch.ts).
import type { Check, SlotFacts } from '#contract/api/diagnosis.ts'
import type { Settings } from '../env.ts'
import { countFailingStarts } from '../db/metrics.ts'
import { listKnownSlots } from '../db/tasks.ts'
import { fault, ok, skipped, warning } from '#contract/api/checkOutcome.ts'
import { runCheck } from './runCheck.ts'
import { readTranscoderHealth } from '../scheduler/containerHealth.ts'
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import { SILENT_MS, WITHOUT_FIXES } from '#contract/task/registration.ts'
import { listTranscoders } from '../db/transcoders.ts'
import { askHealth } from '../transcoders/transcoderRequest.ts'

const MAX_SLOTS_SHOWN = 32
const MAX_REGISTERED = 1000
const ANSWER_MS = 5_000

type SlotHealth = Pick<SlotFacts, 'running' | 'transcoder'> & { error: string | null }

const distinct = (values: readonly string[]): string => [...new Set(values)].join(', ') || 'unknown'
/** Versions of the transcoders that answer. */
const programs = (facts: readonly Pick<SlotFacts, 'transcoder'>[]): string => {
  const known = facts.flatMap(({ transcoder }) => transcoder ?? [])
  return `version ${distinct(known.map(({ version }) => version))}, ffmpeg ${distinct(known.map(({ ffmpeg }) => ffmpeg))}`
}

export interface SlotReport {
  facts: SlotFacts[]
  /** How many jobs can run at once. */
  capacity: number
  check: Check
}

export async function checkSlots(env: Env, settings: Settings): Promise<SlotReport> {
  return withEngineCheck(await askSlots(env, settings))
}

/** npm's ffmpeg works, but it is no program for the sources of strangers. */
function withEngineCheck(report: SlotReport): SlotReport {
  const { facts, check } = report
  const old = facts.filter(({ transcoder }) => transcoder?.ffmpeg.endsWith(WITHOUT_FIXES))
  if (old.length === 0 || check.verdict !== 'ok') return report
  const remedy =
    'Install a newer ffmpeg there, or name the one of the distribution in FFMPEG_PATH and FFPROBE_PATH (docs/security.md).'
  const text = `${check.message} ${old.length} of them decode with npm’s ffmpeg, which gets no security fixes.`
  return { ...report, check: { ...check, ...warning(text, remedy) } }
}

async function askSlots(env: Env, settings: Settings): Promise<SlotReport> {
  if (settings.transcoders === 'registered') return checkRegistered(env)
  const local = settings.transcoders === 'listed'
  const numbers = Array.from({ length: Math.min(settings.maxSlots, MAX_SLOTS_SHOWN) }, (_, slot) => slot)
  const known = await listKnownSlots(env.DB, Date.now()).catch(() => [])
  const busy = new Set(known.filter((slot) => slot.busy === 1).map(({ k }) => k))
  const asked = await Promise.all(
    numbers.map((slot) => (local ? localTranscoderHealth(env, settings, slot) : containerHealth(env, slot))),
  )
  const facts = asked.map(({ running, transcoder }, slot) => ({ slot, busy: busy.has(slot), running, transcoder }))
  return { facts, capacity: settings.maxSlots - settings.dryRunSlots, check: await summarizeSlots(asked, local) }
}

/** What they reported themselves: the list is checked with every registration. */
async function checkRegistered(env: Env): Promise<SlotReport> {
  const rows = await listTranscoders(env.DB, MAX_REGISTERED).catch(() => [])
  const since = Date.now() - SILENT_MS
  const isReady = (row: (typeof rows)[number]): boolean =>
    row.state === 'ready' && row.protocol === TASK_PROTOCOL && row.seen_at >= since
  const facts = rows.slice(0, MAX_SLOTS_SHOWN).map((row) => ({
    slot: row.slot,
    busy: row.task !== null,
    running: row.seen_at >= since,
    transcoder: { state: row.seen_at < since ? 'lost' : row.state, version: row.version, ffmpeg: row.ffmpeg ?? '' },
  }))
  const ready = rows.filter(isReady)
  const check = await runCheck('transcoders', '', () => {
    const start = 'Start one with SERVICE_URL and TRANSCODER_SECRET (docs/operating.md).'
    if (rows.length === 0) return fault('No transcoder has registered.', start)
    const away = rows.filter((row) => !isReady(row) && row.state !== 'draining')
    const [first] = away
    const text = `${ready.length} of ${rows.length} registered transcoders can take jobs (${programs(facts)}).`
    if (first === undefined) return ready.length > 0 ? ok(text) : fault(text, start)
    const why = first.seen_at < since ? 'it has not registered for 30 s' : (first.problem ?? first.state)
    const remedy = 'GET /api/v0/transcoders lists them; the log of a transcoder says why it is not used.'
    return (ready.length > 0 ? warning : fault)(`${text} ${first.id}: ${why}`, remedy)
  })
  return { facts, capacity: ready.length, check }
}

/** Jobs that wait although slots are free. */
export function checkStarts(env: Env): Promise<Check> {
  const remedy =
    'Read the events of a waiting job (GET /api/v0/job/<id>/events): they say why the last start failed. Then check the container’s log, the capacity of the account (docs/operating.md, "Limits"), and whether MAX_SLOTS is larger than max_instances.'
  return runCheck('starts', remedy, async () => {
    const failing = await countFailingStarts(env.DB)
    return failing > 0
      ? fault(`${failing} jobs wait because no transcoder could be started for them.`, remedy)
      : ok('No job is waiting after repeated failed starts.')
  })
}

function summarizeSlots(asked: readonly SlotHealth[], local: boolean): Promise<Check> {
  const remedy = local
    ? 'Check TRANSCODER_URLS, and whether the transcoders run and are reachable from the Worker.'
    : 'Check [[containers]] in wrangler.toml (class_name = "Transcoder") and at npm run cloudflare -- containers list.'
  return runCheck('transcoders', remedy, () => {
    const failed = asked.flatMap(({ error }, slot) => (error === null ? [] : [`slot ${slot}: ${error}`]))
    if (failed.length > 0) {
      const text = `${failed.length} of ${asked.length} do not answer (${failed[0]}).`
      return failed.length < asked.length ? warning(text, remedy) : fault(text, remedy)
    }
    const running = asked.filter((one) => one.running)
    if (running.length === 0) return skipped('No container runs now: one starts with the next job.')
    const versions = new Set(running.flatMap(({ transcoder }) => transcoder?.version ?? []))
    const text = `${running.length} of ${asked.length} run (${programs(running)}).`
    return versions.size > 1
      ? warning(
          text,
          'A rollout is in progress, or it was interrupted: npm run cloudflare -- containers list shows it.',
        )
      : ok(text)
  })
}

async function containerHealth(env: Env, slot: number): Promise<SlotHealth> {
  try {
    const facts = await env.TRANSCODER.get(env.TRANSCODER.idFromName(`slot-${slot}`)).health()
    return { ...facts, error: null }
  } catch (error) {
    return { running: null, transcoder: null, error: String(error) }
  }
}

async function localTranscoderHealth(env: Env, { transcoderUrls }: Settings, slot: number): Promise<SlotHealth> {
  try {
    const response = await askHealth(env, transcoderUrls[slot] ?? '', ANSWER_MS)
    return { running: true, transcoder: await readTranscoderHealth(response), error: null }
  } catch (error) {
    return { running: false, transcoder: null, error: String(error) }
  }
}
