// In charge of: the maximum length of a request's paths, so that the store accepts the key of each output, including
// what the service puts before it and what derived names add.
// Not in charge of: allowed characters (outputNames.ts, outputPaths.ts), the exact names (outputNames.ts,
// allowedOutputs.ts).
import { AUDIO_CODECS, audioFileOf } from '../../codecs.ts'
import { COPY } from './copy.ts'
import { rulesOf, type Provider } from '../stores/registry.ts'
import { utf8ByteLength } from '../paths/inputAddress.ts'
import { isSegmented, isSmooth } from '../../containers.ts'
import { audioFileDirectory, relativeRenditionPath, type OutputLocations } from '../paths/outputLocation.ts'
import { MAX_LENGTH } from '../../limits.ts'
import { joinPath, normalisePath, attemptDirectory } from '../paths/outputNames.ts'
import { archiveBaseName, renditionDirectory } from './segmentedOutput.ts'
import type { Findings } from '../findings.ts'
import { hasExtracts } from './extracts.ts'
import type { JobDraft } from '../fields/request.ts'

/** The longest name of each kind that the service generates. */
const NAME = 'n'.repeat(MAX_LENGTH.file_name)
const LONGEST_ATTEMPT_DIRECTORY = attemptDirectory('0'.repeat(36), 999_999_999)
const LONGEST = {
  file: `${NAME}_15_99999p.mp4`,
  still: `${NAME}_still_15_9999.webp`,
  /** The object that tests whether the directory can be written (Sink.tryOut). */
  trial: '.splicepoint',
  rung: 'video_9999p',
  segment: `${LONGEST_ATTEMPT_DIRECTORY}/9999999.m4s`,
  captions: `captions/SERVICE63/${LONGEST_ATTEMPT_DIRECTORY}/captions.vtt`,
  fragment: `${LONGEST_ATTEMPT_DIRECTORY}/QualityLevels(9999999999)/Fragments(audio_7=9999999999999999)`,
} as const

/** A key that the job would write, and the field that can be shortened. */
interface LongestKey {
  field: string
  key: string
  /**
   * How often the key contains the field's own bytes: the last element of a directory also names the tar and the Smooth
   * manifest.
   */
  times: 1 | 2
  /** The field's value, below the root. */
  clientPart: string
}

/** Refuses paths that are too long for the provider's stores, and reports the bytes that the field may have. */
export function checkPathLengths(
  draft: JobDraft,
  provider: Provider,
  locations: OutputLocations,
  findings: Findings,
): void {
  const { outputPathBytes: limit } = rulesOf(provider)
  // A provider that accepts no outputs is reported elsewhere.
  if (limit === null) return
  const reported = new Map<string, number>()
  const directory = utf8ByteLength(locations.directory.key)
  for (const { field, key, times, clientPart } of longestKeys(draft, locations)) {
    const excess = utf8ByteLength(key) - limit
    if (excess <= 0) continue
    const maxBytes = utf8ByteLength(clientPart) - Math.ceil(excess / times)
    // If not even one byte is left for a name, the directory is too long.
    const [which, maximum] = maxBytes > 0 ? [field, maxBytes] : ['bucket_output_path', directory - 1 + maxBytes]
    reported.set(which, Math.min(maximum, reported.get(which) ?? maximum))
  }
  for (const [field, maximum] of reported) {
    const where = provider === 'vendor-store' ? 'the service’s own store' : 'its store'
    const message = `${field} is too long: it may have at most ${maximum} bytes here, so that every name derived from it fits the limit of ${where} (${limit} bytes)`
    findings.problem('invalid_output_path', field, message, { maximum })
  }
}

function longestKeys(draft: JobDraft, locations: OutputLocations): LongestKey[] {
  const directory = locations.directory.key
  const below = (name: string): LongestKey => {
    return { field: 'bucket_output_path', key: joinPath(directory, name), times: 1, clientPart: directory }
  }
  const found = isSegmented(draft)
    ? longestSegmentKeys(draft, locations, below)
    : longestFileKeys(draft, locations, below)
  found.push(...longestExtractKeys(draft, directory, below))
  const audioDirectory = audioFileDirectory(draft, locations)
  if (audioDirectory === null) return found
  const audio = audioDirectory.key
  const field = locations.audioDirectory === null ? 'bucket_output_path' : 'audio_output_path'
  const file = {
    field,
    key: joinPath(audio, `${NAME}_audio_7.${longestExtension(draft)}`),
    times: 1 as const,
    clientPart: audio,
  }
  return [...found, file]
}

function longestExtension({ audioProfiles }: JobDraft): string {
  const extensions = audioProfiles.flatMap(({ audio_codec: codec = 'aac', audio_container: container }) =>
    // The codec of a copied stream is known only with the source.
    (codec === COPY ? AUDIO_CODECS : [codec]).map((each) => audioFileOf(each, container).extension),
  )
  return extensions.reduce((longest, each) => (each.length > longest.length ? each : longest), '')
}

function longestExtractKeys(draft: JobDraft, directory: string, below: (name: string) => LongestKey): LongestKey[] {
  if (!hasExtracts(draft)) return []
  const given = (draft.stills ?? []).flatMap(({ output = '' }, index): LongestKey[] => {
    const clientPart = normalisePath(output)
    return output === ''
      ? []
      : [{ field: `stills[${index}].output`, key: joinPath(directory, `${clientPart}_0001`), times: 1, clientPart }]
  })
  return [...given, below(LONGEST.still)]
}

/** All rungs of a ladder have names of the same form. */
function profilesOf({ ladder, videoProfiles }: JobDraft): JobDraft['videoProfiles'] {
  return ladder === undefined ? videoProfiles : [{}]
}

function longestFileKeys(
  draft: JobDraft,
  { directory, profiles }: OutputLocations,
  below: (name: string) => LongestKey,
): LongestKey[] {
  return profilesOf(draft).flatMap(({ output = '' }, index) => {
    if (output === '') return [below(LONGEST.file)]
    const { root, key: clientPart } = profiles[index]!
    const key = root === null ? joinPath(directory.key, clientPart) : clientPart
    const directories = key.split('/').slice(0, -1).join('/')
    const wanted: LongestKey = { field: `videoProfiles[${index}].output`, key, times: 1, clientPart }
    // The test object's name can be longer than a short name in the same directory.
    const trial = joinPath(directories, LONGEST.trial)
    return [wanted, clientPart.includes('/') ? { ...wanted, key: trial } : below(LONGEST.trial)]
  })
}

function longestSegmentKeys(
  draft: JobDraft,
  locations: OutputLocations,
  below: (name: string) => LongestKey,
): LongestKey[] {
  const directory = locations.directory.key
  const renditions = profilesOf(draft).map(({ output: given = '' }, index): LongestKey => {
    const output = given === '' ? '' : (relativeRenditionPath(locations.profiles[index]!, locations) ?? '')
    const clientPart = renditionDirectory(output, draft.ladder === undefined ? `video_${index}` : LONGEST.rung)
    const wanted = below(`${clientPart}/${LONGEST.segment}`)
    return output === ''
      ? wanted
      : { ...wanted, field: `videoProfiles[${index}].output`, clientPart: normalisePath(output) }
  })
  const audio = draft.audioProfiles.map((_profile, index) => below(`audio_${index}/${LONGEST.segment}`))
  // The input's name may not be known yet (an upload has only a number).
  const name = archiveBaseName({ outputDirectory: directory, inputName: NAME })
  const times = directory !== '' && !directory.includes('/') ? 2 : 1
  const named = [
    ...(draft.create_tar_file === true ? [below(`${name}.tar`)] : []),
    ...(isSmooth(draft) ? [below(`${name}.ism/${LONGEST.fragment}`)] : []),
  ].map((each): LongestKey => ({ ...each, times }))
  return [...renditions, ...audio, below(LONGEST.captions), ...named]
}
