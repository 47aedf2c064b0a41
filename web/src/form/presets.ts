// In charge of: the built-in presets in the form's terms.
// Not in charge of: what they are (contract/presets.ts).
import { builtInPresets } from '#contract/presets.ts'
import type { Members, Wish } from './body.ts'

export interface Preset {
  id: string
  title: string
  description: string
  body: Wish
}

const list = (value: unknown): Members[] => (Array.isArray(value) ? (value as Members[]) : [])

export const presets: readonly Preset[] = builtInPresets.map(({ preset_id, name, description, job }) => ({
  id: preset_id,
  title: name,
  description,
  body: { ...job, videoProfiles: list(job['videoProfiles']), audioProfiles: list(job['audioProfiles']) },
}))
