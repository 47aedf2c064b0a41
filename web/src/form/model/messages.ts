// In charge of: problems and warnings of the API in the terms of the form: labels instead of paths, and what to enter.
// Pure.
// Not in charge of: finding problems (contract/job/validateJob.ts), where they are shown.
import type { Problem } from '#contract/errors.ts'
import { PROVIDERS, rulesOf } from '#contract/job/stores/registry.ts'
import { REQUEST_OBJECTS, requestObjectAt } from '#contract/job/fields/request.ts'
import { httpLabels, infoAt, infosOf, valueLabel, wordsOf } from './schema.ts'

/** An example address for that kind of store. */
export const exampleOf = (provider: unknown): string | undefined =>
  PROVIDERS.flatMap((name) => (name === provider ? [rulesOf(name).example] : []))[0]

const list = (values: readonly (string | number | boolean)[]): string =>
  values
    .map(String)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1')

/** Title of a field for a list of problems: "Rendition 2 · Bitrate (kbps)". */
export function fieldTitle(path: string, provider?: unknown): string {
  const dot = path.lastIndexOf('.')
  const [object, name] = requestObjectAt(path) ? [path, ''] : [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)]
  const list = requestObjectAt(`${path}[]`)
  if (list?.plural !== undefined) return list.plural
  const { path: at = '', title = '' } = requestObjectAt(object) ?? {}
  const index = /\[(\d+)\]$/.exec(object)?.[1]
  const owner = index === undefined ? title : `${title} ${Number(index) + 1}`
  if (name === '') return owner
  const label =
    (provider === 'http' && at.startsWith('cloud_credentials.') ? httpLabels[name]?.label : undefined) ??
    labelOf(name, at)
  return at === '' ? label : `${owner} · ${label}`
}

/** A message of the service with labels instead of wire names. */
export function reworded(message: string): string {
  return (
    message
      .replace(
        /\b(video|audio)Profiles\[(\d+)\](?:\.([a-z_0-9]+))?/g,
        (_whole, kind: string, index: string, name?: string) => {
          const owner = `${kind === 'video' ? 'rendition' : 'audio track'} ${Number(index) + 1}`
          return name === undefined ? owner : `${quoted(name, `${kind}Profiles[]`)} of ${owner}`
        },
      )
      .replace(/\binputs\[(\d+)\](?:\.([a-z_]+))?/g, (_whole, index: string, name?: string) => {
        const owner = `source ${Number(index) + 1}`
        return name === undefined || name === 'input' ? owner : `${quoted(name, 'inputs[]')} of ${owner}`
      })
      .replace(/\bcaptions\[(\d+)\](?:\.([a-z_0-9]+))?/g, (_whole, index: string, name?: string) => {
        const owner = `caption file ${Number(index) + 1}`
        return name === undefined ? owner : `${quoted(name, 'captions[]')} of ${owner}`
      })
      .replace(/\bcaption file (\d+)\b(?=:| cannot)/gi, (_whole, index: string) => `Caption file ${Number(index) + 1}`)
      // Messages about a plan count from 0.
      .replace(
        /\b(video|audio) profile (\d+)\b/gi,
        (_whole, kind: string, index: string) =>
          `${kind.toLowerCase() === 'video' ? 'rendition' : 'audio track'} ${Number(index) + 1}`,
      )
      .replace(/\b(\d{2,4})x(\d{2,4})\b/g, '$1 × $2')
      .replace(/\bcloud_credentials\.(?:input|output)\.([a-z_]+)/g, (_whole, name: string) =>
        quoted(name, 'cloud_credentials.input'),
      )
      .replace(/\b(?:video|audio)Profiles\b/g, (name) => (name === 'videoProfiles' ? 'renditions' : 'audio tracks'))
      // Wire names contain an underscore; words of a sentence do not.
      .replace(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g, (name) => (labels.has(name) ? quoted(name) : name))
      .replace(/^./u, (first) => first.toUpperCase())
      .replace(/(?<![.!?…])$/, '.')
  )
}

/** Of every field, by its name; where objects share a name, the first one's. */
const labels = new Map(
  REQUEST_OBJECTS.toReversed().flatMap(({ path }) =>
    [...infosOf(path).values()].map(({ name, label }) => [name, label]),
  ),
)

/** @param object whose field it is, if that is known */
const labelOf = (name: string, object = ''): string =>
  infosOf(object).get(name)?.label ?? labels.get(name) ?? wordsOf(name)
const quoted = (name: string, object?: string): string => `“${labelOf(name, object)}”`

function numbers({ field, minimum, maximum }: Problem): string {
  const info = infoAt(field)
  const also =
    info?.additionalValue === undefined
      ? ''
      : info.additionalValue === 0
        ? ', or 0 for that of the source'
        : `, or ${info.additionalValue}`
  if (minimum !== undefined && maximum !== undefined) return `Enter a number from ${minimum} to ${maximum}${also}.`
  return minimum === undefined ? 'Enter a number.' : `Enter a number of at least ${minimum}${also}.`
}

function missing(field: string, uploading: boolean, provider: string): string {
  if (field === 'input' || /^inputs\[\d+\]\.input$/.test(field))
    return uploading ? 'Choose a file.' : `Enter an address, like ${exampleOf(provider) ?? 'https://…'}`
  if (field === 'videoProfiles')
    return 'Add a rendition. For audio alone, choose a container or a directory of audio files.'
  const info = infoAt(field)
  if (info?.kind === 'choice') return 'Choose a value.'
  return info?.kind === 'number' ? 'Enter a number.' : 'Fill in this field.'
}

/** @param provider provider of the source, for the example address */
export function messageOf(problem: Problem, provider: string): string {
  const { code, field, message, minimum, maximum, allowed } = problem
  const uploading = provider === 'file-upload'
  const kbps = (figure: number) => `${figure.toLocaleString('en')} kbps`
  switch (code) {
    case 'required':
      // The format is described at the end of the message.
      return field === 'bucket_output_path'
        ? `Enter where the outputs go: ${message.split(': ').at(-1)}`
        : missing(field, uploading, provider)
    case 'invalid_length':
      if (field === 'videoProfiles') return `Use at most ${maximum} renditions.`
      if (field === 'captions') return `Use at most ${maximum} caption files.`
      if (field === 'audioProfiles') return `Use at most ${maximum} audio tracks.`
      return reworded(message)
    case 'invalid_type':
    case 'out_of_range':
    case 'invalid_value': {
      if (field === 'audio_profiles' || field.endsWith('.audio_profiles')) {
        return 'Enter positions of audio tracks from 0, separated by commas, like 0,1, or none. Empty = all.'
      }
      if (allowed && allowed.length > 0)
        return `Choose ${list(allowed.map((value) => valueLabel(infoAt(field), String(value))))}.`
      return infoAt(field)?.kind === 'number' || minimum !== undefined ? numbers(problem) : reworded(message)
    }
    case 'video_bitrate_too_low':
      return `Too low: enter at least ${kbps(minimum ?? 100)}${maximum === undefined ? '' : ' for this resolution'}.`
    case 'video_bitrate_too_high':
      return `Too high: enter at most ${kbps(maximum ?? 0)} for this resolution.`
    case 'audio_bitrate_not_allowed':
      return allowed ? `Choose ${list(allowed)} kbps for this codec.` : reworded(message)
    case 'invalid_input_address':
      return uploading ? 'Choose a file.' : `Enter an address like ${exampleOf(provider) ?? 'https://…'}`
    case 'user_info_in_address':
      return 'Remove the user name and password from the address; enter them below it.'
    case 'upload_not_found':
      return 'This upload has expired or was deleted. Upload the file again.'
    case 'output_path_conflict':
      return field.endsWith('.output') ? 'Another output has this name. Choose a different one.' : reworded(message)
    default:
      return reworded(message)
  }
}
