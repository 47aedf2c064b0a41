// In charge of: captions that are drawn into the video.
import { BURNED_IN_CAPTION, SOURCE_TRACK } from '#contract/limits.ts'
import { toSpec } from '#contract/job/toJobSpec.ts'
import { measurement, provenByTest, storedConfigRow, type Row } from '../row.ts'

const TEST = 'test/node/transcoder/pipeline/burnIn.test.ts'
const BITMAP_TEST = 'test/node/transcoder/pipeline/bitmapBurnIn.test.ts'
const FILE = { input: 'https://example.test/film.srt', language: 'de' }
const files = (count: number) => Array.from({ length: count }, () => FILE)

/** What the transcoder gets. */
function drawn(member: 'captions' | 'source_track', value: number, count: number, expected: string): Row {
  return storedConfigRow(
    {
      path: `burn_in_captions.${member}`,
      value,
      expected,
      job: { captions: files(count), burn_in_captions: { [member]: value } },
    },
    (config) => {
      const burnIn = toSpec(config).burnIn ?? null
      const found = burnIn?.kind === 'caption' ? burnIn.caption : burnIn?.track
      return measurement(`${burnIn?.kind} ${found}`, found === value)
    },
  )
}

export const burnIn: Row[] = [
  provenByTest(
    { path: 'burn_in_captions.captions', value: 0, expected: 'pixels differ in exactly the frames of each caption' },
    TEST,
    '%s frames per second: captions are in exactly their frames',
  ),
  drawn('captions', BURNED_IN_CAPTION.maximum, BURNED_IN_CAPTION.maximum + 1, 'the last of 32 files'),
  provenByTest(
    { path: 'burn_in_captions.source_track', value: 1, expected: 'the same for a subtitle stream of the source' },
    TEST,
    'a subtitle stream of the source is drawn, also where it becomes a track',
  ),
  provenByTest(
    {
      path: 'burn_in_captions.source_track',
      value: 1,
      expected: 'images of PGS or DVB subtitles: pixels differ in exactly their frames, within their rectangles',
    },
    BITMAP_TEST,
    'PGS: each subtitle is in its frames, its place and its colours, in each output',
  ),
  drawn('source_track', SOURCE_TRACK.maximum, 0, 'the 32nd subtitle stream, if the source has it'),
]
