// In charge of: the outputs of a job whose cues are found by parts of a survey: those of one task; a long stream that is
// surveyed from its first attempt on, and what each part reads of it.
// Not in charge of: the plan of a short one (surveyedCues.test.ts).
import { expect, test } from 'vitest'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import type { Plan } from '../../../../transcoder/plan/model/plan.ts'
import { runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { makeParts } from '../../../support/transcoder/dividedJob.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  cueSurvey,
  cueTask,
  forgetCues,
  makeLongStream,
  makeSurveyedCues,
  requestedBytes,
} from '../../../support/transcoder/surveyedCues.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()

/**
 * Segments and cues. What follows from the bytes of the video is left out, and how a manifest names segments of several
 * attempts.
 */
const manifestsOf = (objects: ReadonlyMap<string, Buffer>) =>
  new Map(
    [...objects].flatMap(([path, bytes]) =>
      /playlist\.m3u8$|\.mpd$/.test(path)
        ? [[path, bytes.toString().match(/^#(?!EXT-X-MAP).*|<(?:Event|Binary|S|Period)\b.*/gm)] as const]
        : [],
    ),
  )

test('the manifests of one task', async () => {
  const source = await makeSurveyedCues(fixture)
  const { alone, divided, onlyAlone, onlyDivided } = await compareDivision(fixture, cueTask(), {
    source,
    chunks: [0, 1],
    survey: cueSurvey,
    beforeSurvey: forgetCues,
  })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  const manifests = manifestsOf(divided.objects)
  expect(manifests).toEqual(manifestsOf(alone.objects))
  const listing = [...manifests.values()].filter((lines) => /EXT-X-DATERANGE|<Binary/.test(String(lines)))
  expect(listing).toHaveLength(3)
  expect(divided.finished!.undivided).toBeUndefined()
  const warnings = divided.finished!.warnings.filter(({ code }) => code !== 'value_clamped')
  expect(warnings).toEqual(alone.finished!.warnings)
})

test('a long stream: the plan of one reading, of which each part reads its share', async () => {
  const source = { bytes: await makeLongStream(fixture) }
  const accepts = { source: true, preview: false, log: true, parts: 400, surveys: true, resurveys: true }
  const qvbr = (profile: object) => ({ ...profile, video_bitrate_mode: 'qvbr' }) as never
  const of = cueTask({ loudness_lufs: -27, max_chunk_seconds: 600 })
  const task = { ...of, config: { ...of.config, videoProfiles: of.config.videoProfiles.map(qvbr) } }
  const planOf = async (resurveys: boolean): Promise<{ plan: Plan; shares: number[] }> => {
    const taskApi = await new FakeTaskApi(source).start()
    const shares: number[] = []
    try {
      taskApi.task = { ...task, accepts: { ...accepts, resurveys } }
      await runTask(runRequest(taskApi), fixture.context())
      if (resurveys) {
        expect(taskApi.divided).toEqual({ parts: 4, survey: true })
        const { division, warnings, cues } = taskApi.storedPlan as Plan
        expect(division!.survey).toEqual({ parts: 8, factors: [], loudness: { parts: 4 }, cues: { parts: 4 } })
        expect([cues!.pid, warnings.map(({ code }) => code)]).toEqual([600, expect.not.arrayContaining(['no_cues'])])
        expect(taskApi.sources.at(-1)!.source.cues).toEqual({ pids: [600], splice_points: 0 })
        // 500 frames, at one a second; and a few looks at its time stamps.
        expect(requestedBytes(taskApi) / source.bytes.length).toBeLessThan(0.6)
        const surveyed = { ...task, plan: taskApi.storedPlan }
        for (let part = 0; part < 4; part += 1) {
          taskApi.inputRanges.length = 0
          await makeParts(taskApi, surveyed, [part], () => fixture.context())
          shares.push(requestedBytes(taskApi) / source.bytes.length)
        }
        taskApi.task = { ...surveyed, accepts, attempt: 2, surveyed: { parts: 4 } }
        await runTask(runRequest(taskApi, 2), fixture.context())
      }
      expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
      expect(taskApi.divided?.survey).toBeUndefined()
      return { plan: taskApi.storedPlan as Plan, shares }
    } finally {
      await taskApi.stop()
    }
  }
  const { plan: surveyed, shares } = await planOf(true)
  const { plan: alone } = await planOf(false)
  const gainsOf = ({ packaging }: Plan) =>
    packaging!.renditions.flatMap(({ audio }) => audio.map(({ loudness }) => loudness!.gainDb))
  const withoutGains = ({ division, ...plan }: Plan) => {
    const { chunks } = division!
    const renditions = plan.packaging!.renditions.map((rendition) => ({ ...rendition, audio: [] }))
    return { ...plan, chunks, packaging: { ...plan.packaging!, renditions } }
  }
  expect(surveyed.division!.survey).toEqual({ parts: 4, factors: [], cues: { parts: 4, known: true } })
  expect(withoutGains(surveyed)).toEqual(withoutGains(alone))
  expect(Math.abs(gainsOf(surveyed)[0]! - gainsOf(alone)[0]!)).toBeLessThan(0.11)
  // A quarter for the cues, one for the audio, and what ffprobe and ffmpeg look at.
  expect(Math.max(...shares), JSON.stringify(shares)).toBeLessThan(0.65)
}, 120_000)
