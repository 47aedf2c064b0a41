// In charge of: the three requests that people really send, as whole attempts, and what a viewer gets of each.
// Not in charge of: sources (rows), judging (judge.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { validateJob } from '#contract/job/validateJob.ts'
import { MAIN_TASK } from '#contract/taskId.ts'
import { applyJobFlags, type JobBody } from '../../../cli/commands/jobBody.ts'
import { runTask } from '../../../transcoder/runTask.ts'
import {
  describeTask,
  runRequest,
  type AttemptFixture,
  type TaskDescription,
} from '../../support/transcoder/attemptFixture.ts'
import { readFragments } from '../../support/media/fragmentReader.ts'
import { FakeTaskApi } from '../../support/transcoder/fakeTaskApi.ts'
import { joinedSegments, storedObjects } from '../../support/transcoder/segmentedTask.ts'
import { watch, type Seen } from './watch.ts'

const stereo = { audio_codec: 'aac', audio_channels: 2, audio_bitrate: 128, source_stream: 1, optional: true }

/** Without `--hls`, which the command line writes itself. */
const BODIES = {
  hls: { ...applyJobFlags(null, { hls: true, dash: true }), thumbnails: true },
  mp4: applyJobFlags(null, { mp4: true }),
  ts: {
    output_container: 'ts',
    closed_captions: true,
    scte35_passthrough: true,
    videoProfiles: [{ height: 180, width: 0, video_bitrate: 800, output: 'out.ts' }],
    audioProfiles: [stereo],
  },
} satisfies Record<string, JobBody>

export type RequestName = keyof typeof BODIES
export const REQUESTS = Object.keys(BODIES) as RequestName[]

export interface Answer {
  /** Code and sentence of the error. */
  error: { code: string; message: string } | null
  warnings: string[]
  /** The largest rendition. */
  seen: Seen | null
  /** The single file; null of segments. */
  file: string | null
}

function taskOf(body: JobBody, inputs: readonly string[]): TaskDescription {
  const address = (name: string): string => `https://example.com/${name}`
  const source =
    inputs.length === 1 ? { input: address(inputs[0]!) } : { inputs: inputs.map((name) => ({ input: address(name) })) }
  const credentials = { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } }
  const validation = validateJob(
    { ...body, ...source, cloud_credentials: credentials },
    { baseUrl: 'http://127.0.0.1' },
  )
  if (!validation.ok) throw new Error(JSON.stringify(validation.problems))
  return { ...describeTask({ container: 'mp4' }), config: validation.config, input_name: inputs[0]! }
}

let runs = 0

/** One attempt with its own task API. Several files are joined. */
export async function answer(fixture: AttemptFixture, files: readonly string[], request: RequestName): Promise<Answer> {
  const taskApi = await new FakeTaskApi().start()
  try {
    const [first, ...further] = await Promise.all(files.map(async (file) => ({ bytes: await readFile(file) })))
    taskApi.source = first!
    taskApi.furtherSources = further
    taskApi.task = taskOf(
      BODIES[request],
      files.map((file) => file.slice(file.lastIndexOf('/') + 1)),
    )
    await runTask(runRequest(taskApi, 1, MAIN_TASK), fixture.context())
    const said = [...(taskApi.plans[0]?.warnings ?? []), ...(taskApi.finished?.warnings ?? [])]
    const warnings = [...new Set(said.map(({ code }) => code))]
    const [failed] = taskApi.fails
    if (taskApi.breaches.length > 0) throw new Error(taskApi.breaches.join('\n'))
    if (failed !== undefined)
      return {
        error: failed.error ?? { code: failed.reason, message: failed.why ?? '' },
        warnings,
        seen: null,
        file: null,
      }
    runs += 1
    return { error: null, warnings, ...(await view(storedObjects(taskApi), `${fixture.directory}/out-${runs}`)) }
  } finally {
    await taskApi.stop()
  }
}

/** Of names with a height, as `video_720p`. */
const tallest = (names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => Number(/\d+/.exec(b)) - Number(/\d+/.exec(a)))[0]

async function view(objects: Map<string, Buffer>, path: string): Promise<Pick<Answer, 'seen' | 'file'>> {
  const names = [...objects.keys()]
  const single = names.find((name) => /\.(mp4|ts)$/.test(name) && !name.includes('/'))
  const video = tallest(names.filter((name) => /^video_[^/]+\/playlist\.m3u8$/.test(name)))
  const audio = names.find((name) => /^audio_[^/]+\/playlist\.m3u8$/.test(name))
  if (video === undefined) {
    if (single === undefined) throw new Error(`no output among ${names.join(' ')}`)
    const file = `${path}${single.slice(single.lastIndexOf('.'))}`
    await writeFile(file, objects.get(single)!)
    return { file, seen: await watch({ video: file }) }
  }
  await writeFile(`${path}.cmfv`, joinedSegments(objects, video))
  if (audio !== undefined) await writeFile(`${path}.cmfa`, joinedSegments(objects, audio))
  const files = { video: `${path}.cmfv`, ...(audio === undefined ? {} : { audio: `${path}.cmfa` }) }
  // ffmpeg shows the pictures of fragments without an edit list later, by the time that B-frames are decoded earlier.
  const { timescale, fragments } = await readFragments(files.video)
  const times = fragments.flatMap(({ samples }) => samples.map(({ time }) => time / timescale))
  return { file: null, seen: await watch(files, { times: times.toSorted((a, b) => a - b) }) }
}
