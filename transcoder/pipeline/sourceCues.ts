// In charge of: the source's cues in one attempt: read once, when they are needed, or known from parts of the job.
// Not in charge of: finding them (analysis/findCues.ts, traceCues.ts), what follows from them (plan/streams/cuePlan.ts).
import type { JobSpec } from '#contract/job/jobSpec.ts'
import type { TaskDescription } from '#contract/task/protocol.ts'
import { declaredCues, findCues, programOfCues } from '../analysis/findCues.ts'
import type { Attempt } from '../attempt.ts'
import type { CueFindings } from '../formats/scte35/cueScan.ts'
import type { TracedProgram } from '../formats/scte35/cueTrace.ts'
import { expectedCues } from '../plan/division/cueSurvey.ts'
import { isSoughtTransport } from '../plan/division/soughtTransport.ts'
import { isProvisional } from '../plan/division/surveyPlan.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'
import type { Plan } from '../plan/model/plan.ts'
import { carriesCues, type SourceCues } from '../plan/streams/cuePlan.ts'
import { outputStartSeconds } from '../plan/streams/outputTiming.ts'

export interface CueSource {
  attempt: Pick<Attempt, 'loopback' | 'controller'>
  spec: JobSpec
  media: MediaInfo
}

/** The plan contains the frames at which cues splice, not the cues, which may be megabytes. */
export class AttemptCues {
  /** Parts of the job may look for them: what is known until then. null = this attempt reads them. */
  readonly expected: SourceCues | null
  readonly #find: () => Promise<CueFindings | null>
  #reading: Promise<CueFindings | null> | null = null
  #found: CueFindings | null = null

  private constructor(find: () => Promise<CueFindings | null>, expected: SourceCues | null = null) {
    this.#find = find
    this.expected = expected
  }

  /** null = the source has none, or the attempt needs none. */
  static known(found: CueFindings | null): AttemptCues {
    const cues = new AttemptCues(() => Promise.resolve(found))
    cues.#found = found
    return cues
  }

  /** Reads them now, unless parts of the job may do it. */
  static async open(source: CueSource, task: TaskDescription): Promise<AttemptCues> {
    const { attempt, spec, media } = source
    if (await maySurvey(source, task)) {
      const declared = await declaredCues(attempt.loopback, programOf(spec, media)!, attempt.controller.signal)
      return declared === null
        ? AttemptCues.known(null)
        : new AttemptCues(() => findSourceCues(source), expectedCues(declared))
    }
    const cues = AttemptCues.ofSource(source)
    await cues.read()
    return cues
  }

  /** This attempt reads them when it needs them. */
  static ofSource(source: CueSource): AttemptCues {
    return new AttemptCues(() => findSourceCues(source))
  }

  /** Of the whole source; null = it has none. */
  read(): Promise<CueFindings | null> {
    this.#reading ??= this.#find().then((found) => (this.#found = found))
    return this.#reading
  }

  /** As far as it is known now. */
  get sofar(): SourceCues | null {
    return this.#found ?? this.expected
  }
}

/** null = the job carries no cues, or the source can have none. */
export function programOf(spec: JobSpec, media: MediaInfo): TracedProgram | null {
  return carriesCues(spec) ? programOfCues(media, outputStartSeconds(spec, media)) : null
}

/** Reads the whole source. */
async function findSourceCues({
  attempt: { loopback, controller },
  spec,
  media,
}: CueSource): Promise<CueFindings | null> {
  if (!carriesCues(spec)) return null
  return findCues(loopback, media, outputStartSeconds(spec, media), controller.signal)
}

/** Nothing more is found for the plan of an earlier attempt, unless it waits for a survey. */
function isPlanned({ plan }: TaskDescription): boolean {
  const division = (plan as Partial<Plan> | null | undefined)?.division
  return plan != null && (division == null || !isProvisional(division))
}

async function maySurvey({ attempt: { loopback }, spec, media }: CueSource, task: TaskDescription): Promise<boolean> {
  if (programOf(spec, media) === null || !isSoughtTransport(media)) return false
  if (task.kind === 'plan' || task.accepts?.resurveys !== true || loopback.isCopied || isPlanned(task)) return false
  const { ranges, size } = await loopback.open()
  return ranges && size !== null
}
