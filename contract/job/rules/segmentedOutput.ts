// In charge of: the directories of segmented output, and combinations that are not allowed in it.
// Not in charge of: rules of codecs and fields (combinations.ts), the effect of the source
// (transcoder/plan/packagingPlan.ts).
import { schemeOf } from '../paths/inputAddress.ts'
import { codecOf, videoRules } from '../../codecs.ts'
import { containerRules, hasHls, isSegmented, prefersTransportStreams } from '../../containers.ts'
import { outputLocations, relativeRenditionPath } from '../paths/outputLocation.ts'
import { normalisePath } from '../paths/outputNames.ts'
import type { Findings } from '../findings.ts'
import type { JobDraft } from '../fields/request.ts'
import type { JobSpec } from '../jobSpec.ts'
import { rulesOf } from '../stores/registry.ts'

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false
}

/** Decision "bucket_output_path": the profile's `output`, without what looks like a file extension. */
export function renditionDirectory(output: string, id: string): string {
  return output === '' ? id : normalisePath(output).replace(/(?<=[^/])\.[a-z][a-z0-9]{1,4}$/i, '')
}

/** The name of the tar and the Smooth manifest: the last element of bucket_output_path, else the input's name. */
export function archiveBaseName(spec: Pick<JobSpec, 'outputDirectory' | 'inputName'>): string {
  return spec.outputDirectory.split('/').at(-1) || spec.inputName
}

/** Names in the directory of segmented output that the service uses, in every job. */
const RESERVED_NAMES = /^(master\.m3u8|manifest\.mpd|job\.json|captions|thumbnails|[^/]*\.(tar|ism|m3u8|mpd))$/i

/** `draft`: the readable part of the job. `body`: to tell an explicit value from an equal default. */
export function checkPackaging(draft: JobDraft, body: Record<string, unknown>, findings: Findings): void {
  if (!isSegmented(draft)) {
    if (isSet(draft.program_start_time))
      findings.warn('no_effect', 'program_start_time', 'program_start_time has no effect: the output is not segmented')
    return
  }
  checkDirectories(draft, findings)
  warnAudio(draft, body, findings)
  const hls = hasHls(draft)
  const dash = draft.segmented_output_dash === true
  if (containerRules(draft.output_container)?.file === 'ts' && !hls)
    findings.warn(
      'no_effect',
      'output_container',
      'output_container ts has no effect: DASH output uses fragmented MP4 (CMAF)',
    )
  if (hls || dash) return
  for (const field of ['program_start_time', 'scte35_passthough'] as const)
    if (isSet(draft[field]))
      findings.warn('no_effect', field, `${field} has no effect: Smooth Streaming does not carry it; HLS and DASH do`)
}

/** Decisions "output" and "bucket_output_path": two outputs at the same path are a 400. */
function checkDirectories(draft: JobDraft, findings: Findings): void {
  const seen = new Map(draft.audioProfiles.map((_profile, index) => [`audio_${index}`, `audioProfiles[${index}]`]))
  const provider = draft.outputProviderOf
  // outputPaths.ts reports an address that its provider does not have.
  const isForeign = (output: string): boolean =>
    schemeOf(output) !== null && (provider === undefined || !rulesOf(provider).schemes.includes(schemeOf(output) ?? ''))
  const locations = provider === undefined ? null : outputLocations(provider, draft)
  const video = draft.videoProfiles.flatMap(({ output = '' }, index) =>
    isForeign(output)
      ? []
      : [{ output: locations === null ? output : relativeRenditionPath(locations.profiles[index]!, locations), index }],
  )
  // Derived names first: they cannot change, so the message belongs to the name that the client chose.
  for (const { output, index } of video.toSorted((a, b) => Number(a.output !== '') - Number(b.output !== ''))) {
    const field = `videoProfiles[${index}].output`
    if (output === null) {
      const message = `${field} must be below bucket_output_path in segmented output: playlists name each rendition by its relative path`
      findings.problem('invalid_output_path', field, message)
      continue
    }
    const directory = renditionDirectory(output, `video_${index}`)
    const [first = ''] = directory.split('/')
    if (RESERVED_NAMES.test(first))
      findings.problem(
        'output_path_conflict',
        field,
        `${field} begins with ${first}, a name that is reserved in segmented output`,
      )
    const earlier = seen.get(directory)
    if (earlier !== undefined) {
      const message = `${field} has the same directory as ${earlier} (${directory}); each rendition needs its own`
      findings.problem('output_path_conflict', field, message)
    }
    seen.set(directory, earlier ?? field)
  }
}

/** Decision "master_variant_mode": DASH always separates audio; a CMAF fragment has one track. */
function warnAudio(draft: JobDraft, body: Record<string, unknown>, findings: Findings): void {
  const asked = body['master_variant_mode'] === false || body['separate_audio'] === false
  const { video_codec: codec, output_container: container } = draft
  const muxed =
    codec !== undefined &&
    videoRules(codecOf(codec)).segments.includes('ts') &&
    hasHls(draft) &&
    prefersTransportStreams({ output_container: container })
  if (!asked || (muxed && draft.segmented_output_dash !== true)) return
  const where =
    muxed && prefersTransportStreams(draft)
      ? 'in DASH, while the HLS segments contain it'
      : 'nevertheless: CMAF, DASH and Smooth Streaming require it'
  findings.warn('no_effect', 'master_variant_mode', `master_variant_mode false: audio is separate ${where}`)
}
