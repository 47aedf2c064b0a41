// In charge of: the durations that a media playlist declares for its segments, and their sizes on disk.
import { readFile, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { absolutePath } from './validator.ts'
import type { Output } from './jobOutputs.ts'

export interface SegmentSizes {
  seconds: number[]
  sizes: number[]
  target: number
}

export async function readSegmentSizes(output: Output, path: string): Promise<SegmentSizes> {
  const text = (await readFile(absolutePath(output, path))).toString()
  const found: SegmentSizes = { seconds: [], sizes: [], target: Number(/TARGETDURATION:(\d+)/.exec(text)?.[1]) }
  let range: number | null = null
  for (const line of text.split('\n')) {
    const duration = /^#EXTINF:([\d.]+)/.exec(line)?.[1]
    if (duration !== undefined) found.seconds.push(Number(duration))
    const bytes = /^#EXT-X-BYTERANGE:(\d+)/.exec(line)?.[1]
    if (bytes !== undefined) range = Number(bytes)
    if (line === '' || line.startsWith('#')) continue
    const file = absolutePath(output, posix.join(posix.dirname(path), line))
    found.sizes.push(range ?? (await stat(file)).size)
    range = null
  }
  return found
}
