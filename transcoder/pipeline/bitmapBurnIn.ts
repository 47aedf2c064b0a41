// In charge of: the bitmap subtitle track that a job draws, through an attempt: read before the plan, written for the encoder.
// Not in charge of: reading and writing it (source/bitmapTrack.ts), the plan (plan/streams/bitmapBurnIn.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { Attempt } from '../attempt.ts'
import type { BitmapTrack, MediaInfo } from '../plan/model/mediaInfo.ts'
import { secondsBeforeRange, secondsOfRange } from '../plan/model/encodedRange.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { drawnBitmaps } from '../plan/streams/bitmapBurnIn.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'
import { needsDeepProbe } from '../plan/streams/audioStreamCount.ts'
import {
  copyBitmapPackets,
  measureBitmapTrack,
  writeBitmapMovie,
  type BitmapPackets,
  type ShownStretch,
} from '../source/bitmapTrack.ts'

const SPARE_SECONDS = 5

export class DrawnBitmaps {
  readonly #attempt: Attempt
  readonly #packets: BitmapPackets

  constructor(attempt: Attempt, packets: BitmapPackets) {
    this.#attempt = attempt
    this.#packets = packets
  }

  /** Reads the whole source once; null = the job draws no bitmaps. */
  static async open(attempt: Attempt, spec: JobSpec, media: MediaInfo): Promise<DrawnBitmaps | null> {
    const stream = drawnBitmaps(spec, media)
    if (stream === null) return null
    const packets = await copyBitmapPackets(attempt, stream, needsDeepProbe(spec, media))
    return new DrawnBitmaps(attempt, packets)
  }

  get file(): string {
    return this.#packets.file
  }

  /** `used`: the source with the cut. */
  measure(spec: JobSpec, used: MediaInfo): Promise<BitmapTrack> {
    const startSeconds = outputStartSeconds(spec, used)
    return measureBitmapTrack(
      this.#packets,
      shownStretch({ media: used, startSeconds }),
      this.#attempt.controller.signal,
    )
  }

  /** The movie of the images that the plan's task draws; null = nothing is drawn. */
  async writeMovie(plan: Plan, used: { media: MediaInfo; startSeconds: number }): Promise<string | null> {
    const { workspace, controller } = this.#attempt
    if (plan.burnIn?.kind !== 'bitmap' || plan.burnIn.drawn === null) return null
    return writeBitmapMovie(this.#packets, shownStretch(used), plan.burnIn.drawn, workspace, controller.signal, {
      from: secondsBeforeRange(plan),
      // More than the frames that are encoded after a range.
      to: secondsBeforeRange(plan) + (secondsOfRange(plan) ?? Number.POSITIVE_INFINITY) + SPARE_SECONDS,
    })
  }
}

function shownStretch({ media, startSeconds }: { media: MediaInfo; startSeconds: number }): ShownStretch {
  return { startSeconds, seconds: media.video?.durationSeconds ?? null }
}
