// In charge of: fetching the caption files of a job and reading them as cues, once for each attempt.
// Not in charge of: the formats (formats/captions), which outputs carry them (plan/streams/sidecarCaptions.ts).
import { captionField } from '#contract/job/captions.ts'
import type { CaptionSpec, JobSpec } from '#contract/job/jobSpec.ts'
import { TaskError } from '#contract/taskError.ts'
import { CaptionError } from '../formats/captions/captionError.ts'
import type { CaptionFile } from '../formats/captions/captionFile.ts'
import { readCaptions } from '../formats/captions/readCaptions.ts'
import { carriesSidecars } from '../plan/streams/sidecarCaptions.ts'
import type { TaskClient } from '../taskApi/taskClient.ts'

/** In the order of the job; none if no output has them as tracks. Throws TaskError captions_unavailable or captions_unreadable. */
export async function fetchCaptionFiles(
  taskClient: Pick<TaskClient, 'fetchCaptions'>,
  job: JobSpec,
  signal: AbortSignal,
): Promise<CaptionFile[]> {
  if (!carriesSidecars(job)) return []
  const files: CaptionFile[] = []
  // One after another: each may have 16 MB.
  for (const [index, spec] of (job.captions ?? []).entries()) {
    files.push(await fetchCaptionFile(taskClient, { index, spec }, signal))
  }
  return files
}

/** Throws as above. */
export async function fetchCaptionFile(
  taskClient: Pick<TaskClient, 'fetchCaptions'>,
  { index, spec }: { index: number; spec: CaptionSpec },
  signal: AbortSignal,
): Promise<CaptionFile> {
  const bytes = await taskClient.fetchCaptions(index, signal)
  try {
    return readCaptions(bytes, spec)
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
