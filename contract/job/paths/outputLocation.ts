// In charge of: the location of a job's outputs: its root (a bucket, or nothing) and paths below it. Paths in another
// root of the same provider begin with a prefix: `@films/2026/a.mp4` is in the bucket films.
// Not in charge of: whether paths are allowed (outputPaths.ts), file names (outputNames.ts).
import { outputProvider, type JobConfig } from '../jobConfig.ts'
import { schemeOf } from './inputAddress.ts'
import { isSegmented } from '../../containers.ts'
import { joinPath, normaliseDirectory, normalisePath } from './outputNames.ts'
import { rulesOf, type Provider } from '../stores/registry.ts'

interface ParsedLocation {
  /** `s3://bucket`, `gs://bucket`, `oci://namespace/bucket`, `https://host`; null = the path is relative. */
  root: string | null
  /** Below the root; '' = the root itself. */
  path: string
}

export interface OutputLocation extends ParsedLocation {
  /** The path in the job, without `.` elements; with a prefix if its root is not the job's own. */
  key: string
}

interface OutputPathFields {
  bucket_output_path?: string | null | undefined
  audio_output_path?: string | null | undefined
  videoProfiles: readonly { output?: string | null | undefined }[]
}

/** Every output path that is given. */
export function listOutputPaths(paths: OutputPathFields): { field: string; path: string }[] {
  return [
    { field: 'bucket_output_path', path: paths.bucket_output_path ?? '' },
    { field: 'audio_output_path', path: paths.audio_output_path ?? '' },
    ...paths.videoProfiles.map(({ output }, index) => ({
      field: `videoProfiles[${index}].output`,
      path: output ?? '',
    })),
  ].filter(({ path }) => path !== '')
}

export interface OutputLocations {
  /**
   * Every root that is named, the job's own first: the root of bucket_output_path, else of the first output that names
   * one. Relative paths are below it.
   */
  roots: readonly string[]
  /** bucket_output_path */
  directory: OutputLocation
  /** audio_output_path; null = not given */
  audioDirectory: OutputLocation | null
  profiles: readonly OutputLocation[]
}

/** Parses the output paths of a job. A path that is not given is '' in the job's own root. */
export function outputLocations(provider: Provider, paths: OutputPathFields): OutputLocations {
  const directory = parseLocation(provider, (paths.bucket_output_path ?? '').replace(/\/$/, ''))
  const audio = parseLocation(provider, (paths.audio_output_path ?? '').replace(/\/$/, ''))
  const profiles = paths.videoProfiles.map(({ output }) => parseLocation(provider, output ?? ''))
  const roots = [...new Set([directory, ...profiles, audio].flatMap(({ root }) => root ?? []))]
  const [own = null] = roots
  // Decision "output": outputs may name several buckets.
  const keyOf = ({ root, path }: ParsedLocation): string =>
    root === null || root === own ? path : joinPath(bucketPrefix(root), path)
  const directoryAt = (at: ParsedLocation): OutputLocation => ({ ...at, key: normaliseDirectory(keyOf(at)) })
  return {
    roots,
    directory: directoryAt(directory),
    audioDirectory: paths.audio_output_path ? directoryAt(audio) : null,
    profiles: profiles.map((at) => ({ ...at, key: normalisePath(keyOf(at)) })),
  }
}

/** The scheme of `location` must be one of the provider's. */
function parseLocation(provider: Provider, location: string): ParsedLocation {
  const scheme = schemeOf(location)
  if (scheme === null) return { root: null, path: location }
  const elements = location.slice(scheme.length + 3).split('/')
  const depth = rulesOf(provider).root.elements
  return { root: `${scheme}://${elements.slice(0, depth).join('/')}`, path: elements.slice(depth).join('/') }
}

/**
 * The first element of paths in a root other than the job's own. A namespace has no dots and a host no underscores, so
 * prefixes are unique.
 */
export function bucketPrefix(root: string): string {
  return `@${root
    .slice(root.indexOf('://') + 3)
    .replace('/', '.')
    .replaceAll(':', '_')}`
}

/** A profile's `output` in a JobSpec: '' = derived, `/path` = below the root, `path` = below bucket_output_path. */
export function profileOutputPath({ root, path, key }: OutputLocation): string {
  return root === null ? path : `/${key}`
}

/**
 * For segmented output: the path relative to bucket_output_path, as playlists name it; null = an address elsewhere.
 */
export function relativeRenditionPath({ root, path, key }: OutputLocation, locations: OutputLocations): string | null {
  if (root === null) return path
  const base = locations.directory.key === '' ? '' : `${locations.directory.key}/`
  return key.startsWith(base) && !hasBucketPrefix(key, locations) && key !== base ? key.slice(base.length) : null
}

/** Whether the path begins with the prefix of one of the job's other roots. */
export function hasBucketPrefix(path: string, { roots }: OutputLocations): boolean {
  const [, ...others] = roots.map(bucketPrefix)
  return others.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
}

/**
 * The directory of audio files; null = the job makes none. Without video there is nothing else that could carry the
 * audio, so audio_output_path may be left out.
 */
export function audioFileDirectory(
  job: OutputPathFields & { ladder?: unknown } & Parameters<typeof isSegmented>[0],
  { audioDirectory, directory }: OutputLocations,
): OutputLocation | null {
  const carriesAudio = job.ladder !== undefined || job.videoProfiles.length > 0 || isSegmented(job)
  return audioDirectory ?? (carriesAudio ? null : directory)
}

/** Below the output directory; '' = itself. */
function extractDirectories({ stills = [], animated_preview: preview, waveform }: JobConfig): string[] {
  const named = stills.map(({ output }) =>
    normalisePath(output ?? '')
      .split('/')
      .slice(0, -1)
      .join('/'),
  )
  return [...named, ...(preview === undefined && waveform === undefined ? [] : [''])]
}

/** The directories below the root into which a job writes files, without duplicates. */
export function outputDirectories(config: JobConfig): string[] {
  const locations = outputLocations(outputProvider(config), config)
  const { directory, profiles } = locations
  const audioDirectory = audioFileDirectory(config, locations)
  // The rungs of a ladder have derived names.
  const found = new Set(config.ladder === undefined && !isSegmented(config) ? [] : [directory.key])
  for (const { root, key } of profiles)
    found.add(root === null || isSegmented(config) ? directory.key : key.split('/').slice(0, -1).join('/'))
  if (audioDirectory !== null) found.add(audioDirectory.key)
  for (const directoryOf of extractDirectories(config))
    found.add(joinPath(directory.key, directoryOf).replace(/\/$/, ''))
  return [...found]
}
