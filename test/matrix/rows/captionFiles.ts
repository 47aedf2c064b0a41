// In charge of: caption files beside the source.
import { CAPTION_FORMATS, CHANNELS_608 } from '#contract/captions.ts'
import { CAPTION_OFFSET } from '#contract/limits.ts'
import { measurement, provenByTest, storedConfigRow, type Row } from '../row.ts'

const TEST = 'test/node/transcoder/pipeline/sidecarCaptions.test.ts'
const EMBEDDED_TEST = 'test/node/transcoder/pipeline/embeddedCaptions.test.ts'
const WORKER_TEST = 'test/worker/taskApi/captions.test.ts'
const MP4 = 'mp4: a tx3g track for each file, with language, title and styles'
const SEGMENTED = 'HLS and DASH: a rendition for each file, split at the segments, with places'
const OFFSET = 'an offset moves all times, in place of the start of a programme'

const ADDRESS = 'https://example.test/film.srt?key=1'

function proven(member: string, value: unknown, expected: string, title: string, file = TEST): Row {
  return provenByTest({ path: `captions[].${member}`, value, expected }, file, title)
}

/** The offset is in the specification of the job as it was given. */
function offset(value: number): Row {
  return storedConfigRow(
    {
      path: 'captions[].offset_seconds',
      value,
      expected: 'kept, and added to all times',
      job: { captions: [{ input: ADDRESS, language: 'de', offset_seconds: value }] },
    },
    ({ captions = [] }) => measurement(`${captions[0]?.offset_seconds}`, captions[0]?.offset_seconds === value),
  )
}

export const captionFiles: Row[] = [
  proven(
    'input',
    'https://example.com/film.srt',
    'read once, with the same checks as the source',
    'the full address is asked, and no reader of the job sees its query',
    WORKER_TEST,
  ),
  storedConfigRow(
    {
      path: 'captions[].input',
      value: ADDRESS,
      expected: 'a query is sealed',
      job: { captions: [{ input: ADDRESS, language: 'de' }] },
    },
    ({ captions = [] }, { secrets }) =>
      measurement(
        `shown as ${captions[0]?.input}`,
        captions[0]?.input === 'https://example.test/film.srt?…' && secrets.addresses['captions[0].input'] === ADDRESS,
      ),
  ),
  proven('language', 'de', 'LANGUAGE in HLS, lang in DASH, ISO 639-2 in mp4', SEGMENTED),
  proven('language', 'zh-Hant', 'ISO 639-2 in mp4', MP4),
  proven('label', 'Signs', 'NAME in HLS, Label in DASH', SEGMENTED),
  proven('label', '', 'the name of the language', SEGMENTED),
  ...CAPTION_FORMATS.map((format) =>
    proven(
      'format',
      format,
      'the same times and text in mp4, HLS and DASH',
      '%s: every format gives the same times and text',
    ),
  ),
  proven('offset_seconds', 0.5, 'captions appear half a second later', OFFSET),
  proven('offset_seconds', 0, 'the start of the programme is not taken off', OFFSET),
  offset(-1),
  offset(CAPTION_OFFSET.minimum),
  offset(CAPTION_OFFSET.maximum),
  proven('default', true, 'DEFAULT=YES in HLS, the role main in DASH', SEGMENTED),
  proven('default', false, 'DEFAULT=NO', SEGMENTED),
  proven('forced', true, 'FORCED=YES in HLS', SEGMENTED),
  proven('forced', false, 'FORCED=NO', SEGMENTED),
  proven(
    'hearing_impaired',
    true,
    'the characteristics of captions in HLS, the role caption in DASH',
    'tracks for the hard of hearing are marked, and equal names are numbered',
  ),
  proven('hearing_impaired', false, 'subtitles', SEGMENTED),
  provenByTest(
    { path: 'captions[].embed', value: 'cea-608', expected: 'ffmpeg reads the text from the frames, at its times' },
    EMBEDDED_TEST,
    'text and times are those of the file',
  ),
  ...CHANNELS_608.map((channel) =>
    provenByTest(
      { path: 'captions[].embed_channel', value: channel, expected: 'the codes of that channel are in its field' },
      'test/node/transcoder/formats/cea/encoder608.test.ts',
      'each channel has its own codes, and a decoder reads all four',
    ),
  ),
]
