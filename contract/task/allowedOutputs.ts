// In charge of: the objects that attempts of a job may store: their paths below its destination, the upload method and
// the media types. The Worker enforces them, since a malicious source file may have taken over a transcoder.
// Not in charge of: the content of objects, the length of paths (pathLengths.ts), stores.
import type { JobConfig } from '../job/jobConfig.ts'
import { toSpec } from '../job/toJobSpec.ts'
import { VIDEO_PROFILES } from '../limits.ts'
import { AUDIO_CODECS, audioFileOf } from '../codecs.ts'
import { containers, fileContainers } from '../containers.ts'
import {
  derivedExtractName,
  previewPath,
  previewTypes,
  stillNamePattern,
  stillTypes,
  waveformPath,
  waveformTypes,
} from '../job/paths/extractNames.ts'
import { audioFilePath, joinPath, normalisePath, outputFilePath } from '../job/paths/outputNames.ts'
import { archiveBaseName, renditionDirectory } from '../job/rules/segmentedOutput.ts'
import type { Plan } from './plan/plan.ts'
import type { JobSpec, PackagingSpec, VideoProfile } from '../job/jobSpec.ts'

/**
 * put = one request, below the attempt's own directory. parts = multipart, completed at the commit. written = put at
 * the commit.
 */
export type UploadMethod = 'put' | 'parts' | 'written'

interface OutputRule {
  path: RegExp
  types: readonly string[]
  methods: readonly UploadMethod[]
}

export interface AllowedOutputs {
  /**
   * What the job may not store: the path or the media type; null = the object is allowed. Without `contentType`, only
   * the path is checked.
   */
  violation(sent: UploadMethod, path: string, contentType?: string): 'path' | 'type' | null
  /** The first path of a plan that does not belong to the job; null = all do. */
  firstForeignPath(plan: Plan): string | null
}

const SEGMENT = ['video/mp4', 'audio/mp4', 'video/mp2t']
const PLAYLIST = ['application/vnd.apple.mpegurl']
const MPD = ['application/dash+xml']
const TEXT = ['text/vtt']
/** Caption channel names as in transcoder/formats/cea. */
const CHANNEL = '(?:CC[1-4]|T[1-4]|SERVICE[1-9]\\d?)'
/** Names of the source's text subtitles, as in transcoder/plan/streams/copiedSubtitles.ts. */
const SUBTITLES = 'sub_(?:[12]?\\d|3[01])'
/** Names of the job's caption files, as in transcoder/segmenter/webvttTracks.ts. */
const CAPTION_FILES = 'file_(?:[12]?\\d|3[01])'
/** Names of the rungs of segmented output, as in transcoder/plan/video/ladder.ts. */
const RUNG_DIRECTORY = 'video_\\d{1,4}p'
/** Segment numbers: enough for half a day of segments of a few frames each. */
const NUMBER = '\\d{5,7}'

/**
 * `sourceName`: as in `toSpec`. `directory`: of the attempt; null = it makes a part of a divided job, whose video the last
 * attempt stores.
 */
export function allowedOutputsOf(config: JobConfig, sourceName: string, directory: string | null): AllowedOutputs {
  const spec = toSpec(config, sourceName)
  const places = [
    ...(directory === null ? [] : videoRules(spec, escapeRegExp(directory))),
    ...audioRules(spec),
    ...extractRules(spec),
  ]
  return {
    violation(sent, path, contentType) {
      const named = places.filter((place) => place.methods.includes(sent) && place.path.test(path))
      if (named.length === 0) return 'path'
      return contentType === undefined || named.some(({ types }) => types.includes(contentType)) ? null : 'type'
    },
    firstForeignPath: (plan) => firstForeignPath(plan, spec, places),
  }
}

function videoRules(spec: JobSpec, attemptDirectory: string): OutputRule[] {
  return spec.packaging === null ? fileRules(spec) : segmentRules(spec, spec.packaging, attemptDirectory)
}

/** The height in a derived name is known only after the source was probed. */
function fileRules(spec: JobSpec): OutputRule[] {
  return filesOf(spec).map((profile) => {
    const path = outputFilePath(spec, profile, 0)
    const at = path.lastIndexOf('_0p.')
    const pattern =
      profile.output === ''
        ? `${escapeRegExp(path.slice(0, at))}_\\d{1,5}p${escapeRegExp(path.slice(at + 3))}`
        : escapeRegExp(path)
    return outputRule(pattern, [fileContainers[containers[spec.container].file ?? 'mp4'].contentType], ['parts'])
  })
}

/** The rungs of a ladder are known only after the source was probed, too. */
function filesOf(spec: JobSpec): VideoProfile[] {
  const [any] = spec.video
  if (spec.ladder === null || any === undefined) return spec.video
  return Array.from({ length: VIDEO_PROFILES.maximum }, (_, index) => ({ ...any, index }))
}

function audioRules(spec: JobSpec): OutputRule[] {
  if (spec.audioDirectory === null) return []
  return spec.audio.flatMap((profile) =>
    // The codec of a copied stream, and with it the extension, is known only after the source was probed.
    [
      profile,
      ...(profile.copy
        ? AUDIO_CODECS.map((codec) => ({ ...profile, codec, container: audioFileOf(codec, undefined).container }))
        : []),
    ].map((file) =>
      outputRule(
        escapeRegExp(audioFilePath(spec, file)),
        [audioFileOf(file.codec, file.container).contentType],
        ['parts'],
      ),
    ),
  )
}

/** Stills, the animated preview, the waveform. */
function extractRules(spec: JobSpec): OutputRule[] {
  const { stills, animatedPreview, waveform } = spec
  const base = spec.outputDirectory === '' ? '' : `${escapeRegExp(spec.outputDirectory)}/`
  return [
    ...stills.map(({ index, format, output, isSingle }) =>
      outputRule(
        base +
          (output === ''
            ? escapeRegExp(spec.inputName) + derivedExtractName.stillPattern(index, format)
            : stillNamePattern(normalisePath(output), isSingle)),
        [stillTypes[format]],
        ['parts'],
      ),
    ),
    ...(animatedPreview === null
      ? []
      : [
          outputRule(
            escapeRegExp(previewPath(spec, animatedPreview)),
            [previewTypes[animatedPreview.format]],
            ['parts'],
          ),
        ]),
    ...(waveform === null
      ? []
      : [outputRule(escapeRegExp(waveformPath(spec, waveform)), [waveformTypes[waveform.format]], ['parts'])]),
  ]
}

function segmentRules(spec: JobSpec, packaging: PackagingSpec, attemptDirectory: string): OutputRule[] {
  const base = spec.outputDirectory === '' ? '' : `${escapeRegExp(spec.outputDirectory)}/`
  const below = (path: string, types: readonly string[], sent: readonly UploadMethod[]) =>
    outputRule(base + path, types, sent)
  const name = escapeRegExp(archiveBaseName(spec))
  const directories = renditions(spec)
  const lists = packaging.hls
    ? [
        ...directories.flatMap((directory) => [
          below(`${directory}/playlist\\.m3u8`, PLAYLIST, ['written']),
          below(`${directory}/iframes\\.m3u8`, PLAYLIST, ['written']),
        ]),
        below('master\\.m3u8', PLAYLIST, ['written']),
        below(`captions/(?:${CHANNEL}|${SUBTITLES}|${CAPTION_FILES})/playlist\\.m3u8`, PLAYLIST, ['written']),
        below('thumbnails/images\\.m3u8', PLAYLIST, ['written']),
      ]
    : []
  const tar = packaging.tar
    ? [
        below(`${name}\\.tar`, ['application/x-tar'], ['parts']),
        below(
          `tar(?:_(?:video|audio)_\\d{1,2}(?:_iframes)?|_captions_${CHANNEL}|_${SUBTITLES}|_${CAPTION_FILES})?\\.m3u8`,
          PLAYLIST,
          ['written'],
        ),
        below('tar\\.mpd', MPD, ['written']),
      ]
    : []
  // Objects that are too large for one request are sent in parts.
  return [
    ...directories.map((directory) =>
      below(`${directory}/${attemptDirectory}/(?:init\\.mp4|${NUMBER}\\.(?:m4s|ts))`, SEGMENT, ['put', 'parts']),
    ),
    ...lists,
    ...(packaging.dash ? [below('manifest\\.mpd', MPD, ['written'])] : []),
    ...(packaging.smooth
      ? [
          below(
            `${name}\\.ism/${attemptDirectory}/QualityLevels\\(\\d{1,12}\\)/Fragments\\(\\w{1,20}=\\d{1,20}\\)`,
            SEGMENT,
            ['put', 'parts'],
          ),
          below(`${name}\\.ism/${attemptDirectory}/init\\.mp4`, SEGMENT, ['put', 'parts']),
          below(`${name}\\.ism/Manifest`, ['application/vnd.ms-sstr+xml'], ['written']),
        ]
      : []),
    ...tar,
    ...(spec.closedCaptions === true
      ? [below(`captions/${CHANNEL}/${attemptDirectory}/(?:captions|${NUMBER})\\.vtt`, TEXT, ['put'])]
      : []),
    ...(packaging.hls || packaging.dash
      ? [
          below(`captions/(?:${SUBTITLES}|${CAPTION_FILES})/${attemptDirectory}/(?:captions|${NUMBER})\\.vtt`, TEXT, [
            'put',
          ]),
        ]
      : []),
    ...(packaging.thumbnails
      ? [
          below(`thumbnails/${attemptDirectory}/${NUMBER}\\.jpg`, ['image/jpeg'], ['put']),
          below('thumbnails/poster\\.jpg', ['image/jpeg'], ['parts']),
          below('thumbnails/thumbnails\\.vtt', TEXT, ['written']),
        ]
      : []),
    below('job\\.json', ['application/json'], ['written']),
  ]
}

/** Patterns of the directories of a job's renditions, below the packaging's directory. */
function renditions(spec: JobSpec): string[] {
  return [
    ...(spec.ladder === null
      ? spec.video.map(({ output, index }) => escapeRegExp(renditionDirectory(output, `video_${index}`)))
      : [RUNG_DIRECTORY]),
    ...spec.audio.map(({ index }) => `audio_${index}`),
  ]
}

function firstForeignPath(plan: Plan, spec: JobSpec, places: readonly OutputRule[]): string | null {
  const inParts = (path: string) => places.some((place) => place.methods.includes('parts') && place.path.test(path))
  const { stills = [], preview, waveform } = plan.extracts ?? {}
  const extracted = [...stills.flatMap(({ images }) => images), ...[preview ?? []].flat(), ...[waveform ?? []].flat()]
  const found = [...plan.outputs, ...plan.audioFiles, ...extracted].find(({ path }) => !inParts(path))?.path
  const { packaging } = plan
  if (found !== undefined || packaging === null) return found ?? null
  const name = archiveBaseName(spec)
  const known = new RegExp(`^(?:${renditions(spec).join('|')})$`, 'u')
  const named: [planned: string | null, own: string | null][] = [
    [packaging.directory, spec.outputDirectory],
    [packaging.tar, spec.packaging?.tar === true ? joinPath(spec.outputDirectory, `${name}.tar`) : null],
    [packaging.smooth, spec.packaging?.smooth === true ? `${name}.ism` : null],
    ...packaging.renditions.map(({ directory }): [string, string | null] => {
      return [directory, known.test(directory) ? directory : null]
    }),
  ]
  return named.find(([planned, attemptDirectory]) => planned !== null && planned !== attemptDirectory)?.[0] ?? null
}

function outputRule(path: string, types: readonly string[], sent: readonly UploadMethod[]): OutputRule {
  return { path: new RegExp(`^${path}$`, 'u'), types, methods: sent }
}

/** A pattern that matches exactly this text. */
function escapeRegExp(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
}
