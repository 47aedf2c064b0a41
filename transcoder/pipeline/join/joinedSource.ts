// In charge of: the source of a job with `inputs`, in the steps that an attempt takes with any source.
// Not in charge of: those steps (attemptSteps.ts), the inputs themselves (openInputs.ts).
import type { TaskDescription } from '#contract/task/protocol.ts'
import type { Cue, CueFindings } from '../../formats/scte35/cueScan.ts'
import type { LogoImage, MediaInfo } from '../../plan/model/mediaInfo.ts'
import type { JoinPlan } from '#contract/task/plan/joinPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { TaskError } from '#contract/taskError.ts'
import type { DrawnCaptions } from '../../plan/streams/burnIn.ts'
import { postPreview } from '../attemptReports.ts'
import type { CaptionFile } from '../../formats/captions/captionFile.ts'
import { readDrawnCaptions } from '../burnIn/drawnCaptions.ts'
import type { CaptionFields } from '../../formats/cea/captionFrames.ts'
import { JoinFeed } from './joinFeed.ts'
import { analyzeInputs, cuesOf, findInputCues, openInputs, planInputs, type InputsContext } from './openInputs.ts'
import type { OpenInput } from './openInput.ts'
import { readPieceCaptions } from './pieceCaptions.ts'

export class JoinedSource {
  readonly #context: InputsContext
  readonly #inputs: readonly OpenInput[]
  readonly #found: readonly (CueFindings | null)[]

  private constructor(context: InputsContext, inputs: readonly OpenInput[], found: readonly (CueFindings | null)[]) {
    this.#context = context
    this.#inputs = inputs
    this.#found = found
  }

  static async open(context: InputsContext): Promise<JoinedSource> {
    const inputs = await openInputs(context)
    return new JoinedSource(context, inputs, await findInputCues(context, inputs))
  }

  /** Bytes of all inputs; null where one of them does not state its size. */
  get size(): number | null {
    const sizes = this.#inputs.map(({ sizeBytes }) => sizeBytes)
    return sizes.every((bytes) => bytes !== null) ? sizes.reduce((sum, bytes) => sum + bytes, 0) : null
  }

  /** The first input as it was probed. */
  get firstMedia(): MediaInfo {
    return this.#inputs[0]!.media
  }

  /** The poster shows the longest piece. */
  async analyzeAndPlan(
    task: TaskDescription,
    logo: LogoImage | null,
    captions: readonly CaptionFile[],
  ): Promise<{ media: MediaInfo; plan: Plan; drawn: DrawnCaptions | null }> {
    const { attempt } = this.#context
    const joined = await analyzeInputs(this.#context, this.#inputs, task.max_source_seconds)
    const piece = joined.join.canvas?.piece ?? 0
    const { loopback, media } = this.#inputs[piece]!
    await postPreview({ ...attempt, loopback }, task, media)
    const drawn = await this.readDrawn({ reads: { kind: 'pieces', join: joined.join } }, captions)
    const plan = planInputs(this.#context, joined, this.#found, { logo, captions, drawn })
    return { media: joined.media, plan, drawn }
  }

  /** `captions`: the files that were fetched for tracks. */
  readDrawn({ reads }: Pick<Plan, 'reads'>, captions: readonly CaptionFile[]): Promise<DrawnCaptions | null> {
    const { attempt, spec } = this.#context
    const joined = reads.kind === 'pieces' ? { inputs: this.#inputs, join: reads.join } : null
    return readDrawnCaptions(attempt, { spec, media: this.firstMedia, files: captions, joined })
  }

  cues({ reads }: Plan): readonly Cue[] {
    return reads.kind === 'pieces' ? (cuesOf(reads.join, this.#found)?.cues ?? []) : []
  }

  /** CEA-608 in the video of the inputs, which are read for it. */
  frameCaptions(plan: Plan): Promise<CaptionFields> {
    return readPieceCaptions(this.#context.attempt, { inputs: this.#inputs, join: this.#required(plan) })
  }

  /** Bytes that are read from now on are not cached. */
  feed(plan: Plan, options: { cpuSeconds: number | undefined; steady: boolean }): JoinFeed {
    const { attempt, spec } = this.#context
    const join = this.#required(plan)
    for (const { loopback } of this.#inputs) loopback.stopCaching()
    return new JoinFeed(attempt, join, this.#inputs, { only: 'all', limit: spec.maxSourceErrors, ...options })
  }

  #required({ reads }: Plan): JoinPlan {
    if (reads.kind === 'pieces' && reads.join.pieces.length === this.#inputs.length) return reads.join
    throw new TaskError('protocol_mismatch', 'The stored plan is not one of a joined source.')
  }
}
