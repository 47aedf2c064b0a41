// In charge of: what the platform offers to a program: the bindings of a Worker, the storage of a Durable Object and
// its alarm.
// Not in charge of: the database (ledger.ts), R2 (storageModel.ts), when any of them is slow or unavailable
// (workerModel.ts).
import type { JobMonitor } from '../../worker/monitor/jobMonitor.ts'
import type { Program } from './program.ts'
import type { Service } from './workerModel.ts'
import { bucketOf } from './storageModel.ts'

/** What a Durable Object keeps, in memory or evicted. */
export interface Durable {
  readonly entries: Map<string, unknown>
  alarm: number | null
}

/** Each call is immediate: while storage answers, the platform delivers nothing to the object. */
export function storageOf(durable: Durable, program: Program, armed: (at: number) => void): DurableObjectStorage {
  const { entries } = durable
  const storage = {
    get: (key: string) => program.effect(() => structuredClone(entries.get(key))),
    put: (key: string, value: unknown) => {
      const kept = structuredClone(value)
      return program.effect(() => void entries.set(key, kept))
    },
    delete: (key: string) => program.effect(() => entries.delete(key)),
    list: ({ prefix = '', startAfter, end, limit }: DurableObjectListOptions) =>
      program.effect(() => {
        const keys = [...entries.keys()].filter(
          (key) =>
            key.startsWith(prefix) &&
            (startAfter === undefined || key > startAfter) &&
            (end === undefined || key < end),
        )
        return new Map(
          keys
            .toSorted()
            .slice(0, limit)
            .map((key) => [key, structuredClone(entries.get(key))]),
        )
      }),
    deleteAll: () => program.effect(() => entries.clear()),
    getAlarm: () => program.effect(() => durable.alarm),
    setAlarm: (at: number) =>
      program.effect(() => {
        durable.alarm = at
        armed(at)
      }),
    deleteAlarm: () => program.effect(() => void (durable.alarm = null)),
  }
  return storage as unknown as DurableObjectStorage
}

export function envOf(service: Service, program: Program): Env {
  const named = <T>(get: (name: string) => T) => ({ idFromName: (name: string) => name, get })
  const env = {
    DB: service.ledger.database(program, service.soon),
    BUCKET: bucketOf(service, program),
    MONITOR: named((job) => stubOf(service, program, job)),
    TRANSCODER: named((slot) => ({
      // The caller does not wait for it.
      cancel: async (task: string, attempt: number) => {
        if (service.fault(service.scenario.loss)) return
        const transcoder = service.transcoders[Number(slot.slice('slot-'.length))]
        service.clock.later(service.soon(), () => transcoder?.cancel(task, attempt))
      },
    })),
    QUEUE: {
      sendBatch: (messages: { body: { task: string; attempt: number } }[]) =>
        program.effect(() => {
          for (const { body } of messages) service.send(body)
        }, service.soon()),
    },
    MAX_SLOTS: service.scenario.protocols.length,
    DRY_RUN_SLOTS: service.scenario.dryRunSlots,
  }
  return env as unknown as Env
}

const LAST_PROGRESS: keyof JobMonitor = 'lastProgress'
type Methods = Record<PropertyKey, (...args: unknown[]) => Promise<unknown>>

/** RPC: calls the object that is in memory when the call arrives. */
function stubOf(service: Service, program: Program, job: string): unknown {
  const get = (_: object, name: PropertyKey) => {
    // If the monitor is evicted during this call, the job ends without progress: worker/scheduler/applyEvent.ts ignores
    // the error.
    const mayEnd = name !== LAST_PROGRESS
    return (...args: unknown[]) => {
      const work = (monitor: unknown) => (monitor as Methods)[name]!(...args)
      return program.effect(() => service.call(job, work, mayEnd), service.soon())
    }
  }
  return new Proxy({}, { get })
}
