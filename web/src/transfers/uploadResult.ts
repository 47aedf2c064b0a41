// In charge of: how an upload ends: with its number, or discarded.
import type { Upload } from '#contract/api/answers.ts'

/** Reason of an abort that also throws away what the service has so far; any other keeps it, to go on later. */
export const DISCARD = 'discard'

/** What is known of it either way: in one request, or in pieces. */
export type Uploaded = Pick<Upload, 'uploaded_file_number' | 'input'>
