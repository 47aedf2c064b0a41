// In charge of: a path that is too long is refused when the job is created, not after it was encoded: every name that
// is derived from an accepted path fits its store, and one byte more is refused.
// Not in charge of: what the stores themselves do with the longest names (test/worker/taskApi/longPaths.test.ts).
import { describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { rulesOf, storeRules } from '#contract/job/stores/registry.ts'
import { joinPath, attemptDirectory } from '#contract/job/paths/outputNames.ts'
import { dashObjects, hlsObjects } from '../../../../../transcoder/manifests/manifestObjects.ts'
import { tarDocuments } from '../../../../../transcoder/manifests/tar/tarPlaylists.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { plannedFiles } from '../../../../../transcoder/plan/model/plannedFiles.ts'
import type { PackagingPlan } from '#contract/task/plan/packagingPlan.ts'
import { buildThumbnailFiles } from '../../../../../transcoder/segmenter/sidecarFiles.ts'
import { captionTracks, buildTextTracks } from '../../../../../transcoder/segmenter/webvttTracks.ts'
import { objectNames, tarRequest } from '../../../../../transcoder/segmenter/objectNames.ts'
import {
  makeAudioTrack,
  examplePresentation,
  makeVideoTrack,
} from '../../../../support/manifests/examplePresentation.ts'
import { audioStream, mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'
import { expectAccepted, expectRefused, request } from '../../requestFixture.ts'

type Provider = Exclude<keyof typeof storeRules, 'file-upload'>
const limitOf = (provider: Provider): number => rulesOf(provider).outputPathBytes!
type Json = Record<string, unknown>

const OWN = attemptDirectory('0'.repeat(36), 999_999_999)
/** Cut to the longest name that outputs take from a source. */
const SOURCE = `${'n'.repeat(200)}.mov`

const outputs: Record<Provider, { root: string; credentials: Json }> = {
  'vendor-store': { root: '', credentials: { cloud_provider: 'vendor-store' } },
  aws: { root: 's3://films/', credentials: { cloud_provider: 'aws', access_key: 'A', secret_key: 'B' } },
  gcloud: { root: 'gs://films/', credentials: { cloud_provider: 'gcloud', access_key: 'A', secret_key: 'B' } },
  oracle: {
    root: 'oci://films/films/',
    credentials: { cloud_provider: 'oracle', access_key: 'A', secret_key: 'B', region: 'eu-frankfurt-1' },
  },
  http: { root: 'https://media.example/', credentials: { cloud_provider: 'http' } },
}

interface Shape {
  /** Name of the field in the problem. */
  field: string
  /** A job whose field has `path`; `root` is its bucket with a slash, or ''. */
  body: (path: string, root: string) => Json
  path: (bytes: number) => string
  /** Whether the longest key has exactly the maximum length: false if it contains the path twice. */
  exact: boolean
}

/** Letters of two bytes: a path may also have 1,024 characters, which must not be the limit here. */
const one = (bytes: number): string => 'é'.repeat(Math.floor(bytes / 2)) + 'p'.repeat(bytes % 2)
const deep = (bytes: number): string => `p/${one(bytes - 2)}`
/** Directories of one letter before a last one, so that most of the path occurs once. */
const steps = (bytes: number): string => 'é/'.repeat(Math.floor((bytes - 4) / 3)) + one(4 + ((bytes - 4) % 3))
const video = (output: string) => ({ videoProfiles: [{ output, width: 640, height: 360, video_bitrate: 900 }] })
const ladder = { ladder: 'auto', videoProfiles: [] }
const hls = { output_container: 'hls', ...video('') }
const everything = {
  ...hls,
  segmented_output_dash: true,
  thumbnails: true,
  closed_captions: true,
  audio_output_path: 'sound',
}

const shapes: Record<string, Shape> = {
  'a file': {
    field: 'videoProfiles[0].output',
    body: (path, root) => ({ bucket_output_path: root, ...video(path) }),
    path: one,
    exact: true,
  },
  'a file in a directory': {
    field: 'videoProfiles[0].output',
    body: (path, root) => ({ bucket_output_path: `${root}films/june`, ...video(path) }),
    path: one,
    exact: true,
  },
  'a short name in a long directory, where the trial has a longer one': {
    field: 'videoProfiles[0].output',
    body: (path, root) => ({ bucket_output_path: root, ...video(path) }),
    path: (bytes) => `${one(bytes - 2)}/x`,
    exact: true,
  },
  'a directory of derived names': {
    field: 'bucket_output_path',
    body: (path, root) => ({ bucket_output_path: root + path, ...video('') }),
    path: one,
    exact: true,
  },
  'a directory of the files of a ladder': {
    field: 'bucket_output_path',
    body: (path, root) => ({ bucket_output_path: root + path, ...ladder }),
    path: one,
    exact: true,
  },
  'the directories of a ladder in HLS': {
    field: 'bucket_output_path',
    body: (path, root) => ({ ...ladder, output_container: 'hls', bucket_output_path: root + path }),
    path: one,
    exact: false,
  },
  'a directory of audio files': {
    field: 'audio_output_path',
    body: (path, root) => ({ bucket_output_path: root, audio_output_path: path }),
    path: deep,
    exact: true,
  },
  'a rendition’s directory': {
    field: 'videoProfiles[0].output',
    body: (path, root) => ({ ...hls, segmented_output_dash: true, bucket_output_path: `${root}films`, ...video(path) }),
    path: deep,
    exact: true,
  },
  'HLS and DASH with all that lies beside them': {
    field: 'bucket_output_path',
    body: (path, root) => ({ ...everything, bucket_output_path: root + path }),
    path: one,
    exact: true,
  },
  'a tar, named by its directory': {
    field: 'bucket_output_path',
    body: (path, root) => ({ ...hls, create_tar_file: true, bucket_output_path: root + path }),
    path: one,
    exact: false,
  },
  'a tar in a deep directory': {
    field: 'bucket_output_path',
    body: (path, root) => ({ ...everything, create_tar_file: true, bucket_output_path: root + path }),
    path: steps,
    exact: true,
  },
  'Smooth Streaming, named by its directory': {
    field: 'bucket_output_path',
    body: (path, root) => ({ ...hls, output_container: 'silverlight', bucket_output_path: root + path }),
    path: one,
    exact: false,
  },
}

const table = (Object.keys(outputs) as Provider[]).flatMap((provider) =>
  Object.entries(shapes).map(([name, shape]): [string, string, Provider, Shape] => [provider, name, provider, shape]),
)

describe('the longest path that is accepted', () => {
  test.each(table)('%s, %s: every name made of it fits, and one byte more is refused', (_, name, provider, shape) => {
    const { root, credentials } = outputs[provider]
    const cloud_credentials = { input: { cloud_provider: 'file-upload' }, output: credentials }
    const body = (bytes: number) => request({ cloud_credentials, ...shape.body(shape.path(bytes), root) })
    const reported = expectRefused(body(1500)).find(({ field }) => field === shape.field)
    const longest = reported?.maximum ?? 0
    const { config } = expectAccepted(body(longest))
    expect(expectRefused(body(longest + 1))).toEqual([
      {
        code: 'invalid_output_path',
        field: shape.field,
        message: expect.stringContaining(`it may have at most ${longest} bytes here`),
        maximum: longest,
      },
    ])
    const keys = namesMade(config)
    const limit = limitOf(provider)
    const bytes = keys.map((key) => Buffer.byteLength(key))
    expect(keys.filter((key) => Buffer.byteLength(key) > limit)).toEqual([])
    // The reserved length is used fully: otherwise names would be refused without need.
    if (shape.exact) expect([name, Math.max(...bytes)]).toEqual([name, limit])
    else expect(Math.max(...bytes)).toBeGreaterThan(limit - 8)
  })
})

test('where no name at all would fit, the directory is what is too long', () => {
  const body = (directory: number) => request({ bucket_output_path: 'd'.repeat(directory) }, { output: 'film.mp4' })
  expect(expectRefused(body(1000))).toMatchObject([
    { code: 'invalid_output_path', field: 'bucket_output_path', maximum: 929 },
  ])
  expect(expectAccepted(body(929)).warnings).toEqual([])
})

test('an output of the service store is accepted as an input with the same length limit', () => {
  const cloud_credentials = { input: { cloud_provider: 'vendor-store' } }
  const body = (bytes: number) => request({ cloud_credentials, input: `out/job-1/${one(bytes)}` })
  expect(expectAccepted(body(limitOf('vendor-store'))).warnings).toEqual([])
  const reported = expectRefused(body(limitOf('vendor-store') + 1))
  expect(reported).toMatchObject([
    { code: 'invalid_input_address', field: 'input', message: expect.stringContaining('942') },
  ])
})

/** Every key of the transcoder and the Worker at its longest, made by the functions that make them. */
function namesMade(config: JobConfig): string[] {
  const spec = toSpec(config, SOURCE)
  const captioned = { closedCaptions: true, captionChannels: ['SERVICE63'], height: 4320, width: 7680 }
  const plan = planJob(spec, mediaInfo(captioned, { audio: [audioStream()] }))
  // If the profile's height is 0, the derived name contains that of the source.
  const files = plannedFiles(plan).map(({ path }) =>
    path.replace(/_\d+p\./, '_99999p.').replace(/_0_(?=\d+p\.)/, '_15_'),
  )
  const audio = plannedFiles(plan).map(({ path }) => path.replace(/_audio_0\./, '_audio_7.'))
  const trials = files.map((path) => joinPath(path.split('/').slice(0, -1).join('/'), '.splicepoint'))
  if (plan.packaging === null) return [...files, ...audio, ...trials]
  const { packaging } = plan
  const below = (path: string) => joinPath(packaging.directory, path)
  const tar = tarRequest(plan)
  return [
    ...files,
    ...audio,
    ...packaging.renditions.flatMap((rendition) =>
      rendition.forms.flatMap((form) => {
        const { directory, initUri, segmentUri } = objectNames(packaging, rendition, form, OWN)
        const names = [initUri, segmentUri(9_999_999, Number.MAX_SAFE_INTEGER)]
        return names.map((uri) => joinPath(directory, wider(uri)))
      }),
    ),
    ...(tar === null ? [] : [tar.path]),
    ...(packaging.smooth === null ? [] : [below(`${packaging.smooth}/Manifest`)]),
    ...documents(packaging).map(below),
    below('job.json'),
    below('.splicepoint'),
  ]
}

/** A rendition of Smooth with the most digits that its bitrate and its name may have. */
function wider(uri: string): string {
  return uri
    .replace(/QualityLevels\(\d+\)/, 'QualityLevels(9999999999)')
    .replace(/Fragments\(video=/, 'Fragments(audio_7=')
}

function documents(packaging: PackagingPlan): string[] {
  if (packaging.hls === null && !packaging.dash) return []
  const [first, ...others] = packaging.renditions.filter(({ kind }) => kind === 'video')
  const track = makeVideoTrack({ directory: first?.directory ?? '', id: first?.id ?? '', audioTracks: [] })
  const made = examplePresentation({
    video: [track, ...others.map(({ directory, id }) => makeVideoTrack({ directory, id, audioTracks: [] }))],
    audio: packaging.renditions
      .filter(({ kind }) => kind === 'audio')
      .map(({ directory, id }, at) => makeAudioTrack(at, {}, { directory, id })),
    text: [],
    thumbnails: null,
  })
  const cues = [{ start: 0, end: 1, text: 'x' }]
  const text = buildTextTracks(captionTracks([{ channel: 'SERVICE63', cues: cues as never }], {}), {
    own: OWN,
    video: track,
    origin: 0,
  })
  const small =
    packaging.thumbnails === null
      ? null
      : buildThumbnailFiles(
          { ...packaging.thumbnails, columns: 100, rows: 100 },
          { sheets: [new Uint8Array(1)], posters: [new Uint8Array(1)] },
          { own: OWN, duration: 1 },
        )
  const whole = { ...made, text: text.tracks, thumbnails: small?.track ?? null }
  const spans = new Map<string, { offset: number; bytes: number }>()
  const tarIndex = {
    name: 'x.tar',
    ranges: { get: (path: string) => spans.get(path) ?? { offset: 0, bytes: 1 } } as never,
  }
  return [
    ...hlsObjects(whole),
    ...dashObjects(whole),
    ...(packaging.tar === null ? [] : tarDocuments(whole, tarIndex, { hls: true, dash: true })),
    ...[...text.files, ...(small?.files ?? [])].map(({ path }) => ({ path: path.replace(/\/\d{5}\./, '/9999999.') })),
    ...(small === null ? [] : [small.vtt]),
  ].map(({ path }) => path)
}
