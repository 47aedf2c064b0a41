// In charge of: the records of the parts of a divided job, in the service's own store until the job has ended.
// Not in charge of: their content, removing them with the other records of the job (commitOutputs.ts).

function partRecordKey(jobId: string, index: number, attempt: number): string {
  return `work/${jobId}/part-${index}-${attempt}.json`
}

export const partRecords = {
  async store(env: Env, jobId: string, index: number, attempt: number, json: string): Promise<void> {
    const metadata = { httpMetadata: { contentType: 'application/json' } }
    await env.BUCKET.put(partRecordKey(jobId, index, attempt), json, metadata)
  },

  async remove(env: Env, jobId: string, index: number, attempt: number): Promise<void> {
    await env.BUCKET.delete(partRecordKey(jobId, index, attempt))
  },

  async open(env: Env, jobId: string, index: number, attempt: number): Promise<R2ObjectBody | null> {
    return env.BUCKET.get(partRecordKey(jobId, index, attempt))
  },
}
