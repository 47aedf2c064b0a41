// In charge of: the parts of the form that have fields of a job alone, by the group of their fields (contract/job/fields/job.ts).
// Not in charge of: the other groups, which stand below the renditions, the audio tracks and the destination (settings.tsx).
import type { FieldGroup } from '#contract/job/fields/field.ts'

export const FIELD_PARTS: readonly { id: FieldGroup; title: string }[] = [
  { id: 'packaging', title: 'Packaging' },
  { id: 'part', title: 'Part of the source' },
  { id: 'encoding', title: 'Video encoding' },
  { id: 'frame', title: 'Frame and logo' },
  { id: 'broadcast', title: 'Captions, SCTE-35 cues and programs' },
  { id: 'service', title: 'Transport stream' },
  { id: 'notice', title: 'Notification' },
]
