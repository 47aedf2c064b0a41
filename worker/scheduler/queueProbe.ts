// In charge of: the diagnosis message that is sent through the queue, and what the consumer does with it.
import { markProbeSeen } from '../db/lastSeen.ts'

export interface ProbeMessage {
  /** Name of the row that the diagnosis waits for. */
  probe: string
}

export const isProbe = (message: object): message is ProbeMessage => 'probe' in message

export async function acknowledgeProbe(env: Env, { probe }: ProbeMessage): Promise<void> {
  await markProbeSeen(env.DB, probe, Date.now())
}
