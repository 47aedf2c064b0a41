// In charge of: a model of the places that bytes go to: uploads in parts, objects, the service's own records.
// Not in charge of: when a store fails (workerModel.ts asks), what may lie where (invariants.ts).

export interface Stored {
  attempt: number
  /** Paths that a playlist or manifest points at. */
  refs: readonly string[]
}

interface Upload {
  path: string
  attempt: number
}

/** One job's destination, and what the service keeps of the job beside it. */
export class Store {
  readonly objects = new Map<string, Stored>()
  readonly uploads = new Map<string, Upload>()
  /** Commit records, by attempt. */
  readonly records = new Map<number, CommitRecord>()
  #ids = 0

  begin(path: string, attempt: number): string {
    const id = `upload${this.#ids++}`
    this.uploads.set(id, { path, attempt })
    return id
  }

  /** @returns false when there is no such upload */
  complete(id: string): boolean {
    const upload = this.uploads.get(id)
    if (!upload) return false
    this.uploads.delete(id)
    this.objects.set(upload.path, { attempt: upload.attempt, refs: [] })
    return true
  }
}

export interface CommitRecord {
  attempt: number
  uploads: { id: string; path: string }[]
  /** In order: media playlists, then what points at them. */
  written: { path: string; refs: string[]; stage: 1 | 2 }[]
}
