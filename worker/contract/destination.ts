// In charge of: what a job's output paths name together: one root (a bucket, or nothing) and paths below it.
// Not in charge of: whether they may (destinations.ts), which file gets which name (outputs.ts).
import { schemeOf } from './addresses.ts'
import type { JobConfig } from './job.ts'
import { normaliseDirectory, normalisePath } from './outputs.ts'
import type { Provider } from './request.ts'

export interface Location {
  /** `s3://bucket`, `gs://bucket`, `oci://namespace/bucket`, `https://host`; null = the path is relative. */
  root: string | null
  /** Below the root; '' = the root itself. */
  path: string
}

/** The scheme of `location` must be one of the provider's. */
export function splitLocation(provider: Provider, location: string): Location {
  const scheme = schemeOf(location)
  if (scheme === null) return { root: null, path: location }
  const elements = location.slice(scheme.length + 3).split('/')
  const depth = provider === 'oracle' ? 2 : 1
  return { root: `${scheme}://${elements.slice(0, depth).join('/')}`, path: elements.slice(depth).join('/') }
}

interface Paths {
  bucket_output_path?: string | null | undefined
  audio_output_path?: string | null | undefined
  videoProfiles: readonly { output?: string | null | undefined }[]
}

/** Every output path that is given, in the order in which they are looked at for the root. */
export function givenPaths(paths: Paths): { field: string; path: string; isDirectory: boolean }[] {
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

/** Decision "Stores": all outputs of a job go into one bucket, which the first path that names one names. */
export function rootOf(provider: Provider, paths: Paths): string | null {
  for (const { path } of givenPaths(paths)) {
    const { root } = splitLocation(provider, path)
    if (root !== null) return root
  }
  return null
}

/** Below the root, without a slash at either end. */
export function directoryOf(provider: Provider, location: string): string {
  return normaliseDirectory(splitLocation(provider, location).path)
}

/** A profile's `output` in a JobSpec: '' = derived, `/path` = below the root, `path` = below bucket_output_path. */
export function specOutput(provider: Provider, output: string): string {
  const { root, path } = splitLocation(provider, output)
  return root === null ? path : `/${normalisePath(path)}`
}

/** The directories below the root into which a job writes files, each once. */
export function outputDirectories(config: JobConfig): string[] {
  const provider = config.cloud_credentials.output.cloud_provider
  const directory = directoryOf(provider, config.bucket_output_path ?? '')
  // The rungs of a ladder are files of derived names.
  const found = new Set(config.ladder === undefined ? [] : [directory])
  for (const { output } of config.videoProfiles) {
    const { root, path } = splitLocation(provider, output ?? '')
    found.add(root === null ? directory : normalisePath(path).split('/').slice(0, -1).join('/'))
  }
  if (config.audio_output_path) found.add(directoryOf(provider, config.audio_output_path))
  return [...found]
}
