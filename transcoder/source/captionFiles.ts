// In charge of: fetching the caption files of a job and reading them as cues, once for each attempt.
// Not in charge of: the formats (formats/captions), which outputs carry them (plan/streams/sidecarCaptions.ts).
import { captionField } from '#contract/job/captions.ts'
import type { CaptionSpec, JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import type { Attempt } from '../attempt.ts'
import { CaptionError } from '../formats/captions/captionError.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import { carriesSidecars } from '../plan/streams/sidecarCaptions.ts'
import { readCaptionsApart } from './captionProcess.ts'

type Reading = Pick<Attempt, 'engine' | 'taskClient' | 'workspace' | 'controller'>

/** In the order of the job; none if no output has them as tracks. Throws TaskError captions_unavailable or captions_unreadable. */
export async function fetchCaptionFiles(attempt: Reading, job: JobSpec): Promise<CaptionFile[]> {
  if (!carriesSidecars(job)) return []
  const files: CaptionFile[] = []
  // One after another: each may have 16 MB.
  for (const [index, spec] of (job.captions ?? []).entries()) {
    files.push(await fetchCaptionFile(attempt, { index, spec }))
  }
  return files
}

/** Throws as above. */
export async function fetchCaptionFile(
  attempt: Reading,
  { index, spec }: { index: number; spec: CaptionSpec },
): Promise<CaptionFile> {
  const bytes = await attempt.taskClient.fetchCaptions(index, attempt.controller.signal)
  try {
    return await readCaptionsApart(attempt, bytes, spec)
  } catch (error) {
    if (!(error instanceof CaptionError)) throw error
    throw unreadable(index, error)
  }
}

function unreadable(index: number, { message, line }: CaptionError): TaskError {
  const place = line === null ? '' : `Line ${line}: `
  return new TaskError('captions_unreadable', `Caption file ${index} cannot be read. ${place}${message}`, {
    field: captionField(index),
    ...(line === null ? {} : { details: { line } }),
  })
}
