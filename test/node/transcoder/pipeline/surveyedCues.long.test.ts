// In charge of: the outputs of a job whose cues are found by parts of a survey: those of one task.
// Not in charge of: its plan (surveyedCues.test.ts).
import { expect, test } from 'vitest'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { cueSurvey, cueTask, forgetCues, makeSurveyedCues } from '../../../support/transcoder/surveyedCues.ts'
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
