// In charge of: the places of chunks in a source on the disk, found as an attempt finds them.
// Not in charge of: their frames (partFrames.ts).
import { open, stat } from 'node:fs/promises'
import type { JobSpec } from '#contract/job/jobSpec.ts'
import { withChunkSeek } from '../../../transcoder/division/chunkPlace.ts'
import type { MediaInfo } from '../../../transcoder/plan/model/mediaInfo.ts'
import type { LoopbackServer } from '../../../transcoder/source/loopbackServer.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

export interface FileReads {
  reads: { first: number; count: number }[]
}

/** For `SourceOfParts.locate`. */
export function locateIn(
  input: string,
  source: { spec: JobSpec; media: MediaInfo },
  found: FileReads = { reads: [] },
): (plan: Plan) => Promise<Plan> {
  return (plan) => withChunkSeek(localSource(input, found), plan, source, new AbortController().signal)
}

export function localSource(
  input: string,
  found: FileReads = { reads: [] },
): Pick<LoopbackServer, 'open' | 'readRange'> {
  return {
    open: async () => ({ size: (await stat(input)).size, ranges: true, head: new Uint8Array() }),
    readRange: async (first: number, count: number) => {
      found.reads.push({ first, count })
      await using file = await open(input)
      const { size } = await file.stat()
      const bytes = Buffer.alloc(Math.max(0, Math.min(count, size - first)))
      await file.read(bytes, 0, bytes.length, first)
      return bytes
    },
  }
}
