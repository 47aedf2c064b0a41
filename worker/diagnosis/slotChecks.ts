// In charge of: checking the transcoder of each slot: the container of its Durable Object, or one of TRANSCODER_URLS.
// Starts none.
// Not in charge of: giving them work (scheduler/dispatch.ts).
import type { Check, SlotFacts } from '#contract/api/diagnosis.ts'
import type { Settings } from '../env.ts'
import { countFailingStarts } from '../db/metrics.ts'
import { listKnownSlots } from '../db/tasks.ts'
import { fault, ok, skipped, warning } from '#contract/api/checkOutcome.ts'
import { runCheck } from './runCheck.ts'
import { readTranscoderHealth } from '../scheduler/containerHealth.ts'

const MAX_SLOTS_SHOWN = 32
const ANSWER_MS = 5_000

type SlotHealth = Pick<SlotFacts, 'running' | 'transcoder'> & { error: string | null }

export interface SlotReport {
  facts: SlotFacts[]
  check: Check
}

export async function checkSlots(env: Env, settings: Settings): Promise<SlotReport> {
  const local = settings.transcoderUrls.length > 0
  const numbers = Array.from({ length: Math.min(settings.maxSlots, MAX_SLOTS_SHOWN) }, (_, slot) => slot)
  const known = await listKnownSlots(env.DB, Date.now()).catch(() => [])
  const busy = new Set(known.filter((slot) => slot.busy === 1).map(({ k }) => k))
  const asked = await Promise.all(
    numbers.map((slot) => (local ? localTranscoderHealth(env, settings, slot) : containerHealth(env, slot))),
  )
  const facts = asked.map(({ running, transcoder }, slot) => ({ slot, busy: busy.has(slot), running, transcoder }))
  return { facts, check: await summarizeSlots(asked, local) }
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
    const made = [...new Set(running.flatMap(({ transcoder }) => transcoder?.version ?? []))]
    const text = `${running.length} of ${asked.length} run (version ${made.join(', ') || 'unknown'}).`
    return made.length > 1
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
    const response = await fetch(`${transcoderUrls[slot]}/health`, {
      headers: env.INTERNAL_TOKEN ? { 'x-splicepoint-internal': env.INTERNAL_TOKEN } : {},
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    return { running: true, transcoder: await readTranscoderHealth(response), error: null }
  } catch (error) {
    return { running: false, transcoder: null, error: String(error) }
  }
}
