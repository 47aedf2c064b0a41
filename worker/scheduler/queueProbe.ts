// In charge of: the message of a diagnosis that goes through the queue, and what its consumer does with it.
import { markProbeSeen } from '../db/lastSeen.ts'

export interface ProbeMessage {
  /** Name of the mark that waits for it. */
  probe: string
}

export const isProbe = (message: object): message is ProbeMessage => 'probe' in message

export async function acknowledgeProbe(env: Env, { probe }: ProbeMessage): Promise<void> {
  await markProbeSeen(env.DB, probe, Date.now())
}
