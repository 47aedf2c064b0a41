// In charge of: what the form knows about a field, read from the schema that validates it
// (contract/job/requestSchema.ts). Pure.
// Not in charge of: its position (groups.ts), its label (labels.ts).
import { fieldDocs } from '#contract/job/fieldDocs.ts'
import {
  animatedPreviewSchema,
  audioProfileSchema,
  burnInSchema,
  captionSchema,
  credentialSchema,
  inputSchema,
  jobFieldsSchema,
  outputCredential,
  stillsSchema,
  videoProfileSchema,
  waveformSchema,
} from '#contract/job/requestSchema.ts'
import { ABSENT, descriptionOf, labelOf } from './labels.ts'

export interface FieldInfo {
  name: string
  label: string
  description: string
  kind: 'flag' | 'choice' | 'number' | 'text'
  /** Values to choose from. */
  values: readonly string[]
  minimum: number | undefined
  maximum: number | undefined
  /** A value that is allowed outside the bounds. */
  additionalValue?: number | undefined
  /** The meaning of absence, if the schema states it. */
  preset: unknown
}

/** null = not a form field. */
function infoOf(prefix: string, name: string, schema: object): FieldInfo | null {
  const meta = fieldDocs.get(schema as never)
  if (!meta) return null
  const listed: readonly (string | number | boolean)[] = meta.allowed ?? []
  const flag = meta.allowed?.length === 0
  const def = (schema as { _zod: { def: { type: string; defaultValue?: unknown } } })._zod.def
  return {
    name,
    label: labelOf(name, prefix),
    description: descriptionOf(name, prefix) ?? meta.description,
    kind: flag
      ? 'flag'
      : listed.length > 0
        ? 'choice'
        : /^(a (whole )?number|the index)/.test(meta.expects)
          ? 'number'
          : 'text',
    values: listed.map(String),
    minimum: meta.minimum,
    maximum: meta.maximum,
    additionalValue: meta.additionalValue,
    preset: def.type === 'default' ? def.defaultValue : ABSENT[name],
  }
}

function infosOf(prefix: string, shape: Record<string, object>): ReadonlyMap<string, FieldInfo> {
  const infos = Object.entries(shape).map(([name, schema]) => infoOf(prefix, name, schema))
  return new Map(infos.flatMap((info) => (info ? [[info.name, info]] : [])))
}

export const jobInfos = infosOf('', jobFieldsSchema.shape)
export const inputInfos = infosOf('inputs[].', inputSchema.shape)
export const videoInfos = infosOf('videoProfiles[].', videoProfileSchema.shape)
export const audioInfos = infosOf('audioProfiles[].', audioProfileSchema.shape)
export const captionInfos = infosOf('captions[].', captionSchema.shape)
export const burnInInfos = infosOf('burn_in_captions.', burnInSchema.shape)
export const stillsInfos = infosOf('stills[].', stillsSchema.shape)
export const previewInfos = infosOf('animated_preview.', animatedPreviewSchema.shape)
export const waveformInfos = infosOf('waveform.', waveformSchema.shape)
export const credentialInfos = {
  input: infosOf('cloud_credentials.input.', credentialSchema.shape),
  output: infosOf('cloud_credentials.output.', outputCredential.shape),
}

/** By the path of a problem: `videoProfiles[1].height`. */
export function infoAt(path: string): FieldInfo | undefined {
  const name = path.split('.').at(-1) ?? ''
  if (path.startsWith('inputs[')) return inputInfos.get(name)
  if (path.startsWith('videoProfiles[')) return videoInfos.get(name)
  if (path.startsWith('audioProfiles[')) return audioInfos.get(name)
  if (path.startsWith('captions[')) return captionInfos.get(name)
  if (path.startsWith('burn_in_captions.')) return burnInInfos.get(name)
  if (path.startsWith('stills[')) return stillsInfos.get(name)
  if (path.startsWith('animated_preview.')) return previewInfos.get(name)
  if (path.startsWith('waveform.')) return waveformInfos.get(name)
  if (path.startsWith('cloud_credentials.input.')) return credentialInfos.input.get(name)
  if (path.startsWith('cloud_credentials.output.')) return credentialInfos.output.get(name)
  return jobInfos.get(path)
}
