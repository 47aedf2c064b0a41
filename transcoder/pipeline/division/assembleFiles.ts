// In charge of: the single files of a divided job, copied from the video and the audio that its parts encoded.
// Not in charge of: the arguments (plan/division/copyPlan.ts), writing and sending the files (encode.ts).
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Warning } from '#contract/errors.ts'
import { mergeWarnings } from '#contract/job/findings.ts'
import type { FinishPost } from '#contract/task/protocol.ts'
import { DamageMonitor } from '../../analysis/damage/damageMonitor.ts'
import { damageWarnings, joinDamage } from '../../analysis/damage/damageReport.ts'
import type { Attempt } from '../../attempt.ts'
import { sortParts } from '../../division/assembleParts.ts'
import { joinChunks } from '../../division/joinChunks.ts'
import type { PartRecord } from '../../division/partRecord.ts'
import { readWorkObjects, type WorkObject } from '../../division/workObjects.ts'
import type { PipeFeed } from '../../ffmpeg/run.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import { copyPlan } from '../../plan/division/copyPlan.ts'
import { encodedSegments } from '../../plan/division/encodedSegments.ts'
import type { Plan } from '../../plan/model/plan.ts'
import { writeCaptionInputs } from '../captionTracks.ts'
import { encode, type JoinedPieces } from '../encode.ts'
import { lateWarnings, type Late } from '../multiplexOutput.ts'
import { requireOutputSpace } from '../transcode.ts'
import { storedFiles } from '../transcodeResult.ts'
import { usageReport } from '../usageReport.ts'
import type { SourceFacts } from './sourceFacts.ts'

interface Found {
  records: readonly PartRecord[]
  source: SourceFacts
  captionFiles: readonly CaptionFile[]
}

/** Nothing of an earlier attempt is used: the parts stay stored. */
export async function assembleFiles(
  attempt: Attempt,
  plan: Plan,
  { records, source, captionFiles }: Found,
): Promise<FinishPost> {
  const { progress, controller, workspace } = attempt
  await requireOutputSpace(attempt, plan)
  const { chunks, rest } = sortParts(plan, records)
  const segments = encodedSegments(plan)
  const videos = joinChunks(segments, chunks, rest).map(({ recorded: { recorded } }) =>
    [recorded.init!, ...recorded.segments].map(({ uri, bytes, sha256 }) => ({ name: uri, bytes, sha256 })),
  )
  const copied = copyPlan(plan)
  const late: Late[] = []
  const encoded = await encode(attempt, copied, source.used, {
    joined: new StoredFeed(attempt, [...videos, ...(rest.tracks ?? []).map((track) => [track])]),
    captions: await writeCaptionInputs(plan, captionFiles, workspace),
    cues: source.cues,
    startSeconds: source.startSeconds,
    seekable: false,
    // The source was judged by the parts; this is no source.
    damage: new DamageMonitor({
      media: { ...source.used, formats: [] },
      plan: copied,
      startSeconds: source.startSeconds,
      limit: null,
      onExceeded: () => undefined,
    }),
    onLate: (each) => late.push(each),
  })
  progress.onEncodeEnd()
  progress.setPhase('uploading')
  const damage = joinDamage(records.map((record) => record.damage))
  const files = await storedFiles(attempt, { ...plan, audioFiles: [] }, encoded, true)
  const measured = [
    ...encoded.map(({ probed }) => probed),
    ...rest.audioFileSeconds.map((durationSeconds) => ({ durationSeconds, video: null })),
  ]
  const usage = usageReport(plan, plan.durationSeconds ?? source.used.durationSeconds, measured, [])
  const found: Warning[] = [...damageWarnings(damage), ...lateWarnings(late)]
  const warnings = mergeWarnings(plan.warnings, [...found, ...records.flatMap((record) => record.warnings)])
  controller.signal.throwIfAborted()
  const objects = [...files, ...records.flatMap((record) => record.objects)]
  return { objects, written: [], warnings, progress: progress.snapshot(), usage }
}

/** What the parts encoded, each stream through a pipe. */
class StoredFeed implements JoinedPieces {
  readonly fraction = 0
  readonly #attempt: Attempt
  readonly #streams: readonly (readonly WorkObject[])[]
  #waiting = 0

  constructor(attempt: Attempt, streams: readonly (readonly WorkObject[])[]) {
    this.#attempt = attempt
    this.#streams = streams
  }

  pipeFeed(): PipeFeed {
    return {
      count: this.#streams.length,
      write: async (pipes, ended) => {
        const signal = AbortSignal.any([ended, this.#attempt.controller.signal])
        await Promise.all(
          this.#streams.map((objects, index) =>
            pipeline(Readable.from(this.#read(objects, signal), { objectMode: false }), pipes[index]!, { signal }),
          ),
        )
      },
    }
  }

  /** True while ffmpeg waits for a stream. */
  get isStarving(): boolean {
    return this.#waiting > 0
  }

  async *#read(objects: readonly WorkObject[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const pieces = readWorkObjects(this.#attempt.taskClient, objects, signal)
    for (;;) {
      this.#waiting += 1
      const { value, done } = await pieces.next().finally(() => (this.#waiting -= 1))
      if (done === true) return
      yield value
    }
  }
}
