// In charge of: the conformance suite for providers whose store is a strict server in memory (test/fakes): fixtures,
// planted faults, the error of a refused call.
// Not in charge of: the checks (conformance.ts).
import { expect } from 'vitest'
import type { CacheControlByKind } from '../../../worker/storage/cacheControl.ts'
import type { Sink, Source, StoreError } from '../../../worker/storage/objectStore.ts'
import {
  caching,
  describeSinkConformance,
  describeSourceConformance,
  failingChecks,
  sinkConformance,
  sourceConformance,
  type Check,
  type SinkFixture,
  type SourceFixture,
} from './conformance.ts'

/** Characters that an address, a signature or an XML document must encode. */
export const DIRECTORY = 'a b+c%20d%/ü/漢字~(video=0)!*\'&?#"<>;@$,='

export interface MemoryStore {
  server: {
    put(key: string, bytes: Uint8Array): void
    objects: ReadonlyMap<string, { bytes: Uint8Array; type: string; cache?: string | undefined }>
  }
  /** What precedes a key in the server: the bucket and a slash. */
  root?: string
  source: (key: string) => Source
  sink: (prefix: string, caching: CacheControlByKind) => Sink
  /** 5 MiB, unless given. */
  minPartBytes?: number
}

function sourceFixture({ server, root = '', source }: MemoryStore): SourceFixture {
  let key = ''
  return {
    async open(bytes) {
      key = `${DIRECTORY}/${crypto.randomUUID()}`
      server.put(root + key, bytes)
      return source(key)
    },
    replace: async (bytes) => server.put(root + key, bytes),
    missing: async () => source('nothing'),
  }
}

function sinkFixture({ server, root = '', sink, minPartBytes = 5 * 1024 * 1024 }: MemoryStore): SinkFixture {
  let prefix = ''
  const object = (path: string) => server.objects.get(root + prefix + path)
  return {
    async sink() {
      prefix = `${DIRECTORY}/${crypto.randomUUID()}/`
      return sink(prefix, caching)
    },
    stored: async (path) => object(path)?.bytes ?? null,
    contentType: async (path) => object(path)?.type ?? null,
    cacheControl: async (path) => object(path)?.cache ?? null,
    minPartBytes,
  }
}

export function describeConformance(name: string, store: MemoryStore): void {
  describeSourceConformance(name, sourceFixture(store))
  describeSinkConformance(name, sinkFixture(store))
}

/** A store with a planted fault must fail a check; one with the fault `none` must pass all. */
export async function expectFound(fault: string, checks: Check[]): Promise<void> {
  expect([fault, (await failingChecks(checks)).length > 0]).toEqual([fault, fault !== 'none'])
}

export const sourceChecks = (store: MemoryStore): Check[] => sourceConformance(sourceFixture(store))

/** With `fault`, each sink that is opened has it. */
export function sinkChecks(store: MemoryStore, fault: (good: Sink) => Partial<Sink> = () => ({})): Check[] {
  const sink: MemoryStore['sink'] = (prefix, kinds) => {
    const good = store.sink(prefix, kinds)
    return { ...good, ...fault(good) }
  }
  return sinkConformance(sinkFixture({ ...store, sink }))
}

export function errorOf(call: Promise<unknown>): Promise<StoreError> {
  return call.then(
    () => Promise.reject(new Error('it was accepted')),
    (error: StoreError) => error,
  )
}
