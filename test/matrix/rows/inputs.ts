// In charge of: elements of inputs: what is stored of them, and their effect in the outputs of a job with one element.
// Not in charge of: joining (test/node/transcoder/pipeline/join), reading several sources
// (test/worker/taskApi/inputs.test.ts).
import { audioSamples, dominantFrequency } from '../../support/media/audioSamples.ts'
import { decodeFrames } from '../../support/media/media.ts'
import { measurement, rejectedRow, storedConfigRow, type JobChange, type Row } from '../row.ts'
import { trackHz } from '../sourceClips.ts'

const UPLOADS = { input: { cloud_provider: 'file-upload' } }
const joined = (inputs: unknown[], change: JobChange = {}): JobChange => ({ input: null, inputs, ...change })
const TWO = [{ input: '1' }, { input: '2' }]
const ADDRESS = 'https://example.test/film.mp4'

const addresses: Row[] = [
  storedConfigRow(
    { path: 'inputs[].input', value: '2', expected: 'two uploads in their order', job: joined(TWO) },
    (config) => {
      const stored = (config.inputs ?? []).map(({ input }) => input).join(', ')
      return measurement(stored, stored === '1, 2')
    },
  ),
  storedConfigRow(
    {
      path: 'inputs[].input',
      value: `${ADDRESS}?token=2`,
      expected: 'addresses whose queries are sealed each',
      job: joined(
        [1, 2].map((token) => ({ input: `${ADDRESS}?token=${token}` })),
        { cloud_credentials: { input: { cloud_provider: 'http' } } },
      ),
    },
    (config, { secrets: { addresses: sealed } }) => {
      const stored = (config.inputs ?? []).map(({ input }) => input)
      const whole = [sealed['inputs[0]'], sealed['inputs[1]']].map((address) => address?.replace(ADDRESS, ''))
      return measurement(
        `shown as ${stored.join(', ')}; sealed ${whole.join(', ')}`,
        stored.every((address) => address === `${ADDRESS}?…`) && whole.join() === '?token=1,?token=2',
      )
    },
  ),
  rejectedRow(
    { path: 'inputs[].input', value: 'film.mp4', job: joined([TWO[0], { input: 'film.mp4' }]) },
    'invalid_input_address',
    'inputs[1].input',
  ),
  rejectedRow({ path: 'inputs[].input', value: '1', job: { inputs: TWO } }, 'conflict', 'inputs'),
  rejectedRow(
    { path: 'inputs[].input', value: '2', job: joined(TWO, { cloud_credentials: { inputs: [UPLOADS.input] } }) },
    'invalid_length',
    'cloud_credentials.inputs',
  ),
]

/** The number of frames that decode. The source has 25 per second. */
function frames(path: string, value: unknown, piece: object, wanted: number): Row {
  const text = (count: number) => `${count} frames`
  return {
    path,
    value,
    expected: text(wanted),
    job: joined([{ input: '1', ...piece }], {
      audioProfiles: [],
      videoProfiles: [{ width: 160, height: 90, video_bitrate: 150 }],
    }),
    quick: true,
    measure: async (bench) => {
      const count = (await decodeFrames(await bench.file())).length
      return measurement(text(count), count === wanted)
    },
  }
}

const cuts: Row[] = [
  frames('inputs[].start_seconds', 0.4, { start_seconds: 0.4, end_seconds: 1.2 }, 20),
  frames('inputs[].end_seconds', '00:00:01:05', { end_seconds: '00:00:01:05' }, 30),
  rejectedRow(
    { path: 'inputs[].end_seconds', value: 1, job: joined([TWO[0], { input: '2', start_seconds: 2, end_seconds: 1 }]) },
    'out_of_range',
    'inputs[1].end_seconds',
  ),
  rejectedRow(
    { path: 'inputs[].start_seconds', value: 1, job: joined(TWO, { start_seconds: 1 }) },
    'conflict',
    'start_seconds',
  ),
]

const streams: Row[] = [
  {
    path: 'inputs[].source_streams',
    value: { 1: '3' },
    expected: `where a profile has source_stream 1, the tone of the source’s audio stream 3: ${trackHz(2)} Hz`,
    job: joined([{ input: '1', source_streams: { 1: '3' } }], {
      videoProfiles: [{ width: 64, height: 64, video_bitrate: 100 }],
    }),
    source: 'tracks',
    quick: true,
    measure: async (bench) => {
      const tone = dominantFrequency(await audioSamples(await bench.file(), 0))
      return measurement(`${Math.round(tone)} Hz`, Math.abs(tone - trackHz(2)) < 5)
    },
  },
  rejectedRow(
    { path: 'inputs[].source_streams', value: { 1: null }, job: joined([{ input: '1', source_streams: { 1: null } }]) },
    'conflict',
    'inputs[0].source_streams',
  ),
]

export const inputs: readonly Row[] = [...addresses, ...cuts, ...streams]
