// In charge of: a model of R2, as far as sinks and commits use it: multipart uploads, the objects of each job, and the
// service's records.
// Not in charge of: when it fails (workerModel.ts), which objects are allowed (invariants.ts).
import { parseTaskId } from '#contract/taskId.ts'
import type { Program } from './program.ts'
import type { Service } from './workerModel.ts'

export interface Stored {
  /** Number of its task in its job. */
  task: number
  attempt: number
  /** Paths that a playlist or manifest refers to. */
  refs: readonly string[]
  size: number
  body: string
}

export interface Upload {
  path: string
  task: number
  attempt: number
  /** False until it is journaled: then only the bucket's lifecycle rule removes it. */
  isKnown: boolean
}

/** What the simulation stores: task and attempt in the content type, the referenced paths in the body. */
export const typeOf = (id: string, attempt: number): string => `simulated/${parseTaskId(id).number}.${attempt}`
function makerOf(contentType: string): { task: number; attempt: number } {
  const [task, attempt] = /^simulated\/(\d+)\.(\d+)$/.exec(contentType)?.slice(1).map(Number) ?? []
  return { task: task ?? 0, attempt: attempt ?? 0 }
}
/** Size of a file uploaded in parts. */
export const FILE_BYTES = 1000

/** One job's destination, and what the service stores about the job. */
export class Store {
  readonly objects = new Map<string, Stored>()
  readonly uploads = new Map<string, Upload>()
  /** Records of its commits. */
  readonly records = new Map<string, Stored>()

  /** Parses a key of the bucket: `out/<account>/<job>/<path>` or `work/<job>/<name>`. */
  static place(key: string): { job: string; at: 'objects' | 'records'; path: string } {
    const [space, ...rest] = key.split('/')
    if (space === 'out') return { job: rest[1]!, at: 'objects', path: rest.slice(2).join('/') }
    return { job: rest[0]!, at: 'records', path: rest.slice(1).join('/') }
  }
}

/** The R2 binding of one program. */
export function bucketOf(service: Service, program: Program): R2Bucket {
  const held = (key: string) => {
    const { job, at, path } = Store.place(key)
    return { job, path, store: service.store(job), objects: service.store(job)[at] }
  }
  const set = (key: string, stored: Stored) => {
    const { job, path, objects } = held(key)
    objects.set(path, stored)
    service.checker.note(`${job} puts ${path}`)
    service.checker.stored(job, service.store(job))
    return described(key, stored)
  }
  const effect = <T>(act: () => T): Promise<T> => program.effect(act, service.away())
  const bucket = {
    put: (key: string, value: string | Uint8Array, { httpMetadata }: R2PutOptions = {}) => {
      const body = typeof value === 'string' ? value : new TextDecoder().decode(value)
      const { contentType = '' } = (httpMetadata ?? {}) as R2HTTPMetadata
      const maker = makerOf(contentType)
      const refs = maker.attempt > 0 ? body.split('\n').filter(Boolean) : []
      return effect(() => set(key, { ...maker, refs, size: body.length, body }))
    },
    head: (key: string) => effect(() => found(key)),
    get: (key: string) =>
      effect(() => {
        const object = held(key).objects.get(held(key).path)
        return object ? { ...described(key, object), json: async () => JSON.parse(object.body) as unknown } : null
      }),
    // Undoing a commit deletes key by key, as far as it can: it reports what it cannot delete (details.in_place).
    delete: (keys: string | string[]) =>
      program.effect(
        () => {
          for (const key of [keys].flat()) {
            const { job, path, store, objects } = held(key)
            service.checker.note(`${job} deletes ${path}`)
            if (objects.delete(path)) service.checker.stored(job, store)
          }
        },
        typeof keys === 'string' ? service.soon() : service.away(),
      ),
    list: ({ prefix = '' }: R2ListOptions) =>
      effect(() => ({ objects: [...held(prefix).objects.keys()].map((path) => ({ key: prefix + path })) })),
    createMultipartUpload: (key: string, { httpMetadata }: R2MultipartOptions) =>
      effect(() => {
        const { store, path } = held(key)
        const uploadId = `upload${service.uploads++}`
        const { contentType = '' } = httpMetadata as R2HTTPMetadata
        store.uploads.set(uploadId, { path, ...makerOf(contentType), isKnown: false })
        return { uploadId }
      }),
    resumeMultipartUpload: (key: string, id: string) => ({
      complete: () =>
        effect(() => {
          if (service.fault(service.scenario.commitFails)) throw new Error('complete: invalid argument (10029)')
          const { store } = held(key)
          const upload = store.uploads.get(id)
          if (!upload) throw new Error('complete: no such upload (10024)')
          store.uploads.delete(id)
          return set(key, { task: upload.task, attempt: upload.attempt, refs: [], size: FILE_BYTES, body: '' })
        }),
      abort: () =>
        effect(() => {
          if (!held(key).store.uploads.delete(id)) throw new Error('abort: no such upload (10024)')
        }),
    }),
  }
  return bucket as unknown as R2Bucket

  function found(key: string) {
    const { objects, path } = held(key)
    const object = objects.get(path)
    return object ? described(key, object) : null
  }
}

function described(key: string, { size, task, attempt }: Stored) {
  return { key, size, httpEtag: `"${task}.${attempt}"` }
}
