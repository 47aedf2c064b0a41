// In charge of: the parts of the form, and which fields of a job each shows: those of its group in the table of fields.
import type { Field, FieldGroup } from '#contract/job/fields/field.ts'
import { jobFields } from '#contract/job/fields/job.ts'

/** The names of a group's fields, in the order of the table. */
export const fieldsOfGroup = (group: FieldGroup): string[] =>
  Object.entries<Field>(jobFields).flatMap(([name, field]) => (field.group === group ? [name] : []))

/** Parts of fields alone. The other groups stand below the renditions, the audio tracks and the destination. */
export const FIELD_PARTS: readonly { id: FieldGroup; title: string }[] = [
  { id: 'packaging', title: 'Packaging' },
  { id: 'part', title: 'Part of the source' },
  { id: 'encoding', title: 'Video encoding' },
  { id: 'frame', title: 'Frame and logo' },
  { id: 'broadcast', title: 'Captions, SCTE-35 cues and programs' },
  { id: 'service', title: 'Transport stream' },
  { id: 'notice', title: 'Notification' },
]
