// In charge of: the relative path of an output below the job's destination, and the characters that it may contain.
// Not in charge of: the destination (the store), whether two profiles have the same path (outputPaths.ts).
import { isCleanText, schemeOf } from './inputAddress.ts'
import { audioFileOf } from '../../codecs.ts'
import { containers, fileContainers } from '../../containers.ts'
import type { AudioProfile, JobSpec, VideoProfile } from '../jobSpec.ts'

/** `film\u202e4pm.exe` is shown as `filmexe.mp4`. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
/** Names of devices, with or without an extension; Windows removes dots and spaces from the end. `.` is an element of its own. */
const RESERVED_BY_WINDOWS = /^(con|prn|aux|nul|con(in|out)\$|(com|lpt)[0-9¹²³])(\..*)?$|^(?!\.$).*[. ]$/i

/** Paths with one `fileKey` are one file where names are compared without case (Windows, macOS) or in one Unicode form. */
export const fileKey = (path: string): string => path.toUpperCase().normalize('NFC').toLowerCase()

/**
 * Decision "output": @returns what is wrong with a relative path, as a sentence without its subject; null = valid. The
 * length is checked in pathLengths.ts.
 */
export function outputPathProblem(path: string): string | null {
  if (path === '') return 'is empty'
  if (schemeOf(path) !== null || /^[a-z][a-z0-9+.-]*:\//i.test(path)) return 'must not begin with a scheme'
  if (!isCleanText(path)) return 'must not contain control characters'
  if (BIDI_CONTROLS.test(path)) return 'must not contain characters that change the direction of text'
  if (path.includes('\\')) return 'must not contain a backslash'
  if (path.startsWith('/')) return 'must not begin with a slash; it is relative to the destination of the job'
  const elements = path.split('/')
  if (elements.includes('..')) return 'must not contain .. as an element'
  if (elements.includes('')) return 'must not contain an empty element, nor end with a slash'
  if (normalisePath(path) === '') return 'has no file name'
  if (elements.some((element) => RESERVED_BY_WINDOWS.test(element)))
    return 'has a name that Windows cannot store (CON, PRN, AUX, NUL, COM1, LPT1, …, or one that ends with a dot or a space)'
  return null
}

/** Removes `.` elements, so that an object has exactly one name. */
export function normalisePath(path: string): string {
  return path
    .split('/')
    .filter((element) => element !== '.')
    .join('/')
}

/** A directory may have a trailing slash. */
export function normaliseDirectory(path: string): string {
  return normalisePath(path.replace(/\/$/, ''))
}

export function joinPath(directory: string, path: string): string {
  return directory === '' ? path : `${directory}/${path}`
}

/**
 * The path of a profile's single file, relative to the job's destination. `height` is the real height in pixels, known
 * after the probe if the profile says 0. Decision "output": an explicit path is used as it is, an empty one becomes
 * `<input name>_<profile index>_<height>p.<ext>`; both are below bucket_output_path.
 */
export function outputFilePath(spec: JobSpec, profile: VideoProfile, height: number): string {
  const { extension } = fileContainers[containers[spec.container].file ?? 'mp4']
  const derived = `${spec.inputName}_${profile.index}_${height}p.${extension}`
  // An address with its own bucket contains the whole path (outputLocation.ts).
  if (profile.output.startsWith('/')) return profile.output.slice(1)
  return joinPath(spec.outputDirectory, profile.output === '' ? derived : normalisePath(profile.output))
}

/** Decision "audio_output_path": `<audio_output_path>/<input name>_audio_<profile index>.<ext>`. */
export function audioFilePath(spec: JobSpec, profile: AudioProfile): string {
  return joinPath(
    spec.audioDirectory ?? '',
    `${spec.inputName}_audio_${profile.index}.${audioFileOf(profile.codec, profile.container).extension}`,
  )
}

/**
 * The path element in which an attempt stores what it makes while it runs (`PUT /task/:id/output/<path>`): segments, init
 * segments, sprites, captions. No two attempts and no two jobs ever write one key, except in the commit.
 */
export function attemptDirectory(jobId: string, attempt: number): string {
  return `${jobId}-${attempt}`
}
