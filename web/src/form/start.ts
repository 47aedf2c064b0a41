// In charge of: what the form begins with: a preset, or an earlier job, or a file that was uploaded before.
import { validateJob } from '#contract/job.ts'
import type { Body } from './body.ts'
import { presets, type Preset } from './presets.ts'

const stores = () => ({ input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } })

export function startOf(preset: Preset): Body {
  return { ...structuredClone(preset.body), cloud_credentials: stores() }
}

/** Presets that this version can carry out. */
export const offered = presets.filter((preset) => {
  const judged = validateJob({ ...startOf(preset), input: '1' }, { baseUrl: location.origin })
  return judged.ok || judged.problems.every(({ code }) => code !== 'not_available')
})

/** The other wish of the same source and the same stores. */
export function withPreset(body: Body, preset: Preset): Body {
  const { input, cloud_credentials } = body
  return { ...startOf(preset), ...(input === undefined ? {} : { input }), cloud_credentials }
}
