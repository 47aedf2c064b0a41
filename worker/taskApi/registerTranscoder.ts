// In charge of: a transcoder's registration: whose id it is, whether the service reaches its address, whether it can be
// given attempts.
// Not in charge of: authentication (registrationRoutes.ts), SQL (db/transcoders.ts).
import { TASK_PROTOCOL } from '#contract/task/protocol.ts'
import {
  REGISTRATION_MS,
  SILENT_MS,
  transcoderOrigin,
  type Registration,
  type RegistrationReply,
  type RegistrationState,
} from '#contract/task/registration.ts'
import { findTranscoder, renewTranscoder, saveTranscoder, type TranscoderRow } from '../db/transcoders.ts'
import { RequestError } from '../http/requestError.ts'
import { log } from '../log.ts'
import { assignSlots } from '../scheduler/assignSlots.ts'
import { askHealth } from '../transcoders/transcoderRequest.ts'

/** A transcoder answers from memory. */
const ANSWER_MS = 5_000

/** @throws RequestError 409 while another process with this id answers at its own address */
export async function registerTranscoder(env: Env, id: string, given: Registration): Promise<RegistrationReply> {
  const url = transcoderOrigin(given.url) ?? given.url
  const known = await findTranscoder(env.DB, id)
  const isSame = known !== null && known.instance === given.instance && known.url === url
  if (known !== null && known.instance !== given.instance) await requireGone(env, known, url)
  // Not with every repetition: an address that was reached is checked again after an attempt could not be started there.
  const unreachable = isSame && known.state !== 'unreachable' ? null : await whyUnreachable(env, url, given.instance)
  const now = Date.now()
  const { protocol, version, ffmpeg } = given
  const { state, problem } = judge(given, unreachable)
  const row = { id, instance: given.instance, url, protocol, version, ffmpeg, state, problem, seen_at: now }
  const isRenewed = isSame && (await renewTranscoder(env.DB, row))
  const slot = isRenewed ? known.slot : await saveTranscoder(env.DB, { ...row, registered_at: now })
  if (!isSame) log.info('transcoder registered', { transcoder: id, slot, url, version })
  const was = isSame ? known : null
  if (problem !== null && was?.problem !== problem) log.warn('transcoder not used', { transcoder: id, state, problem })
  const wasReady = was?.state === 'ready' && was.seen_at >= now - SILENT_MS
  // Jobs may be waiting for it.
  if (state === 'ready' && !wasReady)
    await assignSlots(env).catch((error: unknown) => log.warn('effect failed', { error: String(error) }))
  return { slot, state, problem, next_ms: REGISTRATION_MS }
}

function judge(given: Registration, unreachable: string | null): { state: RegistrationState; problem: string | null } {
  if (given.state === 'draining') return { state: 'draining', problem: null }
  if (given.protocol !== TASK_PROTOCOL) {
    const wanted = given.protocol < TASK_PROTOCOL ? 'the transcoder' : 'the service'
    return {
      state: 'incompatible',
      problem: `The transcoder (version ${given.version}) speaks protocol ${given.protocol}, the service ${TASK_PROTOCOL}: upgrade ${wanted}.`,
    }
  }
  return unreachable === null ? { state: 'ready', problem: null } : { state: 'unreachable', problem: unreachable }
}

/** A process that has ended, or that the service cannot reach, loses its id to the new one. */
async function requireGone(env: Env, known: TranscoderRow, url: string): Promise<void> {
  const found = await instanceAt(env, known.url).catch(() => null)
  if (found !== known.instance) return
  throw new RequestError(
    'conflict',
    known.url === url
      ? `Another process answers at ${url}. Set TRANSCODER_ADVERTISE_URL to the address of this transcoder.`
      : `The transcoder at ${known.url} is registered with the id "${known.id}" and answers. Set TRANSCODER_ID to another one.`,
  )
}

/** A sentence for people, or null when this process answers at the address. */
async function whyUnreachable(env: Env, url: string, instance: string): Promise<string | null> {
  const advice = 'Open the port for the service, or set TRANSCODER_ADVERTISE_URL.'
  try {
    const found = await instanceAt(env, url)
    return found === instance ? null : `Another program answers at ${url}. ${advice}`
  } catch (error) {
    return `The service does not reach ${url}: ${error instanceof Error ? error.message : String(error)}. ${advice}`
  }
}

/** @throws Error when no transcoder answers there */
async function instanceAt(env: Env, url: string): Promise<string> {
  const answer = await askHealth(env, url, ANSWER_MS)
  // Written by the local egress, in place of an answer.
  if (answer.headers.has('x-egress-failed')) throw new Error((await answer.text()).slice(0, 200).replace(/\.$/, ''))
  const { instance } = await answer.json<{ instance?: unknown }>().catch(() => ({ instance: undefined }))
  if (typeof instance !== 'string') throw new Error(`what answers there (${answer.status}) is not a transcoder`)
  return instance
}
