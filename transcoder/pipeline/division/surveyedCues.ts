// In charge of: the cues that parts of a survey found together.
// Not in charge of: what each found (surveyPart.ts), one reading of the whole source (../sourceCues.ts).
import { orNone } from '../../analysis/findCues.ts'
import { decodeTrace } from '../../division/cueRecord.ts'
import { decodeSurveyRecord, type SurveyRecord } from '../../division/surveyRecord.ts'
import { joinTraces } from '../../formats/scte35/cueTrace.ts'
import type { Plan } from '../../plan/model/plan.ts'
import type { OpenTask } from '../openTask.ts'
import { AttemptCues, programOf, type CueSource } from '../sourceCues.ts'
import { fetchRecords } from './jobRecords.ts'

/** `records`: of all parts that looked for cues. null = only one reading finds them. */
export function cuesOfRecords(
  { spec, media }: CueSource,
  records: readonly Pick<SurveyRecord, 'cues'>[],
): AttemptCues | null {
  const program = programOf(spec, media)
  const traces = records.flatMap(({ cues }) => cues ?? [])
  if (program === null || traces.length < records.length) return null
  const found = joinTraces(traces.map(decodeTrace), program)
  return found === null ? null : AttemptCues.known(orNone(found))
}

/** Of the part that makes everything but the video. */
export async function cuesOfRest(open: OpenTask, { division }: Plan): Promise<AttemptCues> {
  const { cues } = division?.survey ?? {}
  if (cues?.known !== true) return AttemptCues.ofSource(open)
  const stored = await fetchRecords(open.attempt, cues.parts)
  const records = stored.map((record) => decodeSurveyRecord(record))
  return cuesOfRecords(open, records) ?? AttemptCues.ofSource(open)
}
