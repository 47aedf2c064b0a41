// In charge of: the objects of a request (specification 2.1 to 2.3) as one tree that the validation, the reference, the
// OpenAPI document, the form and the tests walk; and the types of a request.
// Not in charge of: single fields (job.ts, profiles.ts, captions.ts, extracts.ts, credentials.ts), rules between them (../rules/).
import * as limits from '../../limits.ts'
import type { Provider } from '../stores/registry.ts'
import { burnInFields, captionFields } from './captions.ts'
import { credentialFields, outputCredentialFields } from './credentials.ts'
import { animatedPreviewFields, stillsFields, waveformFields } from './extracts.ts'
import type { Field, Fields, FieldsOf } from './field.ts'
import { jobFields } from './job.ts'
import { audioProfileFields, inputFields, videoProfileFields } from './profiles.ts'

interface RequestObject {
  /** Of the object in a request, with [] for the index of an element: `videoProfiles[]`; '' = the request itself. */
  path: string
  fields: Fields
  /** Its name in the OpenAPI document and, with "Fields", in the package's types; absent = that of another with the same fields. */
  component?: string
  /** Members that a request must have where it has the object. */
  required?: readonly string[]
  /** Of the number of elements; absent = the member is one object. */
  bounds?: { minimum: number; maximum: number }
  meaning?: string
  /** What the form calls one of them, and all of them. */
  title: string
  plural?: string
}

/** Every object of a request that has fields. */
export const REQUEST_OBJECTS: readonly RequestObject[] = [
  { path: '', fields: jobFields, component: 'Job', required: ['cloud_credentials'], title: 'Job' },
  {
    path: 'inputs[]',
    fields: inputFields,
    component: 'Input',
    required: ['input'],
    bounds: limits.INPUTS,
    meaning: `${limits.INPUTS.minimum} to ${limits.INPUTS.maximum} sources that are joined in this order, instead of input (docs/inputs.md).`,
    title: 'Source',
    plural: 'Sources',
  },
  {
    path: 'videoProfiles[]',
    fields: videoProfileFields,
    component: 'VideoProfile',
    bounds: limits.VIDEO_PROFILES,
    meaning: `At most ${limits.VIDEO_PROFILES.maximum} renditions. Leave out with ladder "auto"; [] for a job with audio alone.`,
    title: 'Rendition',
    plural: 'Renditions',
  },
  {
    path: 'audioProfiles[]',
    fields: audioProfileFields,
    component: 'AudioProfile',
    bounds: limits.AUDIO_PROFILES,
    meaning: 'Empty for outputs without audio. Required with video, unless a preset has them.',
    title: 'Audio track',
    plural: 'Audio',
  },
  {
    path: 'captions[]',
    fields: captionFields,
    component: 'Caption',
    required: ['input', 'language'],
    bounds: limits.CAPTIONS,
    meaning: 'Caption files beside the source; they become text tracks of HLS, DASH and mp4.',
    title: 'Caption file',
    plural: 'Caption files',
  },
  {
    path: 'burn_in_captions',
    fields: burnInFields,
    component: 'BurnInCaptions',
    meaning: 'Captions to draw into the video of every output: one of the two members.',
    title: 'Burned-in captions',
  },
  {
    path: 'stills[]',
    fields: stillsFields,
    component: 'Stills',
    bounds: limits.STILLS,
    meaning: `Still images of the outputs' frames: ${limits.STILLS.minimum} to ${limits.STILLS.maximum} elements, each with its own times, size and format.`,
    title: 'Set of stills',
    plural: 'Stills',
  },
  {
    path: 'animated_preview',
    fields: animatedPreviewFields,
    component: 'AnimatedPreview',
    meaning: 'A short animation of excerpts, without audio.',
    title: 'Animated preview',
  },
  {
    path: 'waveform',
    fields: waveformFields,
    component: 'Waveform',
    meaning: 'The peaks of the audio, as data or as an image.',
    title: 'Waveform',
  },
  { path: 'cloud_credentials.input', fields: credentialFields, component: 'Credential', title: 'Source' },
  { path: 'cloud_credentials.inputs[]', fields: credentialFields, title: 'Source' },
  { path: 'cloud_credentials.output', fields: outputCredentialFields, title: 'Destination' },
]

/** The object at a path of a request, `videoProfiles[1]`; undefined = there is none. */
export function requestObjectAt(path: string): RequestObject | undefined {
  const general = path.replaceAll(/\[\d+\]/g, '[]')
  return REQUEST_OBJECTS.find((each) => each.path === general)
}

/** The field at a path of a request, `videoProfiles[1].width`. */
export function fieldAt(path: string): Field | undefined {
  const dot = path.lastIndexOf('.')
  const fields = requestObjectAt(path.slice(0, Math.max(dot, 0)))?.fields
  const name = path.slice(dot + 1)
  return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** The members that a request may have. */
export const REQUEST_MEMBERS: readonly string[] = [
  ...Object.keys(jobFields),
  ...new Set(REQUEST_OBJECTS.slice(1).map(({ path }) => path.replace(/\W.*/, ''))),
]

export type JobFields = FieldsOf<typeof jobFields>
export type InputFields = FieldsOf<typeof inputFields>
export type VideoProfileFields = FieldsOf<typeof videoProfileFields>
export type AudioProfileFields = FieldsOf<typeof audioProfileFields>
export type CaptionFields = FieldsOf<typeof captionFields>
export type BurnInCaptionsFields = FieldsOf<typeof burnInFields>
export type StillsFields = FieldsOf<typeof stillsFields>
export type AnimatedPreviewFields = FieldsOf<typeof animatedPreviewFields>
export type WaveformFields = FieldsOf<typeof waveformFields>
export type CredentialFields = FieldsOf<typeof credentialFields>

/**
 * A request during validation: the readable part, so that the rules can check the rest of a body that contains errors.
 */
export interface JobDraft extends Partial<JobFields> {
  videoProfiles: Partial<VideoProfileFields>[]
  audioProfiles: Partial<AudioProfileFields>[]
  inputs?: Partial<InputFields>[]
  captions?: Partial<CaptionFields>[]
  burn_in_captions?: Partial<BurnInCaptionsFields>
  /** Provider of `input`, or of each element of `inputs`. */
  inputProvidersOf: readonly (Provider | undefined)[]
  stills?: Partial<StillsFields>[]
  animated_preview?: Partial<AnimatedPreviewFields>
  waveform?: Partial<WaveformFields>
  outputProviderOf: Provider | undefined
}
