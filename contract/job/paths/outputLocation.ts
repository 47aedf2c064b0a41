// In charge of: the location of a job's outputs: its root (a bucket, or nothing) and paths below it. Paths in another
// root of the same provider begin with a prefix: `@films/2026/a.mp4` is in the bucket films.
// Not in charge of: whether paths are allowed (outputPaths.ts), file names (outputNames.ts).
import type { JobConfig } from '../jobConfig.ts'
import { schemeOf } from './inputAddress.ts'
import { isSegmented } from '../../containers.ts'
import { joinPath, normaliseDirectory, normalisePath } from './outputNames.ts'
import { rulesOf, type Provider } from '../stores/registry.ts'

export interface OutputLocation {
  /** `s3://bucket`, `gs://bucket`, `oci://namespace/bucket`, `https://host`; null = the path is relative. */
  root: string | null
  /** Below the root; '' = the root itself. */
  path: string
}

/** The scheme of `location` must be one of the provider's. */
export function parseOutputLocation(provider: Provider, location: string): OutputLocation {
  const scheme = schemeOf(location)
  if (scheme === null) return { root: null, path: location }
  const elements = location.slice(scheme.length + 3).split('/')
  const depth = rulesOf(provider).root.elements
  return { root: `${scheme}://${elements.slice(0, depth).join('/')}`, path: elements.slice(depth).join('/') }
}

interface OutputPathFields {
  bucket_output_path?: string | null | undefined
  audio_output_path?: string | null | undefined
  videoProfiles: readonly { output?: string | null | undefined }[]
}

/** Every output path that is given, in the order in which the root is determined. */
export function listOutputPaths(paths: OutputPathFields): { field: string; path: string; isDirectory: boolean }[] {
  return [
    { field: 'bucket_output_path', path: paths.bucket_output_path ?? '', isDirectory: true },
    { field: 'audio_output_path', path: paths.audio_output_path ?? '', isDirectory: true },
    ...paths.videoProfiles.map(({ output }, index) => ({
      field: `videoProfiles[${index}].output`,
      path: output ?? '',
      isDirectory: false,
    })),
  ].filter(({ path }) => path !== '')
}

/**
 * Every root that is named, the job's own first: the root of bucket_output_path, else of the first output that names
 * one.
 */
export function outputRoots(provider: Provider, paths: OutputPathFields): string[] {
  const [audio, others] = [
    listOutputPaths(paths).filter(({ field }) => field === 'audio_output_path'),
    listOutputPaths(paths).filter(({ field }) => field !== 'audio_output_path'),
  ]
  const named = [...others, ...audio].flatMap(({ path }) => parseOutputLocation(provider, path).root ?? [])
  return [...new Set(named)]
}

/** The root of relative paths. */
export function jobRoot(provider: Provider, paths: OutputPathFields): string | null {
  return outputRoots(provider, paths)[0] ?? null
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

/**
 * Decision "output": outputs may name several buckets. Returns a location as a path of the job, with a prefix if its
 * root is not `own`.
 */
export function pathInJob(provider: Provider, location: string, own: string | null): string {
  const { root, path } = parseOutputLocation(provider, location)
  return root === null || root === own ? path : joinPath(bucketPrefix(root), path)
}

/** The same for a directory, without leading and trailing slash. */
export function directoryInJob(provider: Provider, location: string, own: string | null): string {
  return normaliseDirectory(pathInJob(provider, location, own))
}

/** A profile's `output` in a JobSpec: '' = derived, `/path` = below the root, `path` = below bucket_output_path. */
export function profileOutputPath(provider: Provider, output: string, own: string | null): string {
  const path = pathInJob(provider, output, own)
  return parseOutputLocation(provider, output).root === null ? path : `/${normalisePath(path)}`
}

/**
 * For segmented output: the path relative to bucket_output_path, as playlists name it; null = an address elsewhere.
 */
export function relativeRenditionPath(provider: Provider, output: string, paths: OutputPathFields): string | null {
  if (parseOutputLocation(provider, output).root === null) return output
  const own = jobRoot(provider, paths)
  const directory = directoryInJob(provider, paths.bucket_output_path ?? '', own)
  const path = normalisePath(pathInJob(provider, output, own))
  const base = directory === '' ? '' : `${directory}/`
  return path.startsWith(base) && !hasBucketPrefix(path, provider, paths) && path !== base
    ? path.slice(base.length)
    : null
}

/** Whether the path begins with the prefix of one of the job's other roots. */
export function hasBucketPrefix(path: string, provider: Provider, paths: OutputPathFields): boolean {
  const [, ...others] = outputRoots(provider, paths)
  return others.some((root) => path === bucketPrefix(root) || path.startsWith(`${bucketPrefix(root)}/`))
}

/** The directories below the root into which a job writes files, without duplicates. */
export function outputDirectories(config: JobConfig): string[] {
  const provider = config.cloud_credentials.output.cloud_provider
  const own = jobRoot(provider, config)
  const directory = directoryInJob(provider, config.bucket_output_path ?? '', own)
  // The rungs of a ladder have derived names.
  const found = new Set(config.ladder === undefined ? [] : [directory])
  for (const { output } of config.videoProfiles) {
    const isRelative = parseOutputLocation(provider, output ?? '').root === null
    const path = normalisePath(pathInJob(provider, output ?? '', own))
    found.add(isRelative || isSegmented(config) ? directory : path.split('/').slice(0, -1).join('/'))
  }
  if (config.audio_output_path) found.add(directoryInJob(provider, config.audio_output_path, own))
  return [...found]
}
