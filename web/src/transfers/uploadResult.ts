// In charge of: the possible ends of an upload: its number, or discarded.
import type { Upload } from '#contract/api/answers.ts'

/** Abort reason that also deletes what the service has so far; any other reason keeps it, to continue later. */
export const DISCARD = 'discard'

/** The result of both ways of sending. */
export type Uploaded = Pick<Upload, 'uploaded_file_number' | 'input'>
