// In charge of: interlaced and telecined sources.
import { ffmpeg, decodeFrames, lavfi, probeStream } from '../../support/media/media.ts'
import { barPositions } from '../../support/media/interlacedClip.ts'
import { frameSimilarities } from '../../support/media/frameSimilarity.ts'
import { measurement, type RowContext, type Measurement, type Row } from '../row.ts'

const job = (change: Record<string, unknown>, profile: Record<string, unknown> = {}) => ({
  audioProfiles: [],
  ...change,
  videoProfiles: [{ video_bitrate: 2000, ...profile }],
})

/** Mean SSIM against another file. */
async function closeness(file: string, other: string): Promise<number> {
  const scores = await frameSimilarities(file, ['-i', other])
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** Frames that mpdecimate does not treat as a repetition of the one before. */
async function distinct(file: string): Promise<number> {
  const kept = await ffmpeg(['-i', file, '-vf', 'mpdecimate', '-fps_mode', 'vfr', '-f', 'framemd5', '-'])
  return kept.toString().match(/[0-9a-f]{32}/g)?.length ?? 0
}

/** Progressive frames, all different, with the bar in one position: woven fields would show it in two. */
async function progressive(bench: RowContext, count: number): Promise<Measurement> {
  const file = await bench.file()
  const decoded = await decodeFrames(file)
  const flagged = decoded.filter((frame) => frame.interlaced_frame === 1).length
  const places = await barPositions(file)
  const apart = Math.max(
    ...places.flatMap((place, index) => (index % 2 === 1 ? [Math.abs(place - places[index - 1]!)] : [])),
  )
  const different = await distinct(file)
  const combed = apart > 2
  return measurement(
    `${decoded.length} pictures, ${flagged} interlaced, ${different} different, ${combed ? 'combed' : 'not combed'}`,
    decoded.length === count && flagged === 0 && different === count && !combed,
  )
}

async function interlaced(bench: RowContext): Promise<Measurement> {
  const file = await bench.file()
  const decoded = await decodeFrames(file)
  const flagged = decoded.filter((frame) => frame.interlaced_frame === 1).length
  const places = await barPositions(file)
  const forward = places.slice(1).filter((place, index) => place > places[index]!).length
  return measurement(
    `${flagged} of ${decoded.length} interlaced; ${forward} of ${places.length - 1} fields later than the one before`,
    flagged === 50 && decoded.length === 50 && forward === 99,
  )
}

export const scan: Row[] = [
  {
    path: 'force_progressive',
    value: true,
    expected: '50 progressive pictures of 50 interlaced ones, all different, without combing',
    job: job({ force_progressive: true }),
    source: 'fields',
    quick: true,
    measure: (bench) => progressive(bench, 50),
  },
  {
    path: 'force_progressive',
    value: true,
    expected: 'a progressive source is not touched: as close to it as without the field',
    job: job({ force_progressive: true }),
    measure: async (bench) => {
      const source = await bench.source()
      const [own, without] = [
        await closeness(await bench.file(), source),
        await closeness(await bench.encodeOther(job({})), source),
      ]
      return measurement(
        `SSIM ${own.toFixed(2)}, without ${without.toFixed(2)}`,
        Math.abs(own - without) < 0.002 && own > 0.9,
      )
    },
  },
  {
    path: 'force_progressive',
    value: false,
    expected: 'interlaced stays interlaced: 50 pictures of two fields, each later than the one before',
    job: job({ force_progressive: false }),
    source: 'fields',
    quick: true,
    measure: interlaced,
  },
  {
    path: 'videoProfiles[].video_format',
    value: 'progressive',
    expected: '50 progressive pictures of 50 interlaced ones, all different, without combing',
    job: job({}, { video_format: 'progressive' }),
    source: 'fields',
    measure: (bench) => progressive(bench, 50),
  },
  {
    path: 'videoProfiles[].video_framerate',
    value: '2x',
    expected: 'of an interlaced source: one progressive picture a field, 100 of them',
    job: job({}, { video_framerate: '2x' }),
    source: 'fields',
    measure: (bench) => progressive(bench, 100),
  },
  ...[true, false].map((value): Row => ({
    path: 'auto_detelecine_flag',
    value,
    expected: value ? '23.976 progressive pictures a second, the film’s own' : '29.97 a second, as in the source',
    job: job({ auto_detelecine_flag: value }),
    source: 'film',
    measure: async (bench) => {
      const file = await bench.file()
      const pace = (await probeStream(file, 'video')).avg_frame_rate
      if (!value) return measurement(pace, pace === '30000/1001')
      const film = lavfi('testsrc2=s=320x180:r=24000/1001:d=4')
      const scores = await frameSimilarities(file, film)
      const least = Math.min(...scores.slice(0, 90))
      const like = least > 0.93
      const measured = `${pace}, 90 pictures ${like ? 'like' : 'unlike'} the film’s`
      return measurement(measured, pace === '24000/1001' && scores.length >= 90 && like)
    },
  })),
  {
    path: 'auto_detelecine_flag',
    value: true,
    expected: 'without 3:2 pulldown in the source: a warning, nothing else',
    job: job({ auto_detelecine_flag: true }),
    measure: async (bench) => {
      const warnings = await bench.warnings()
      const pace = (await probeStream(await bench.file(), 'video')).avg_frame_rate
      return measurement(`${pace}, ${warnings.join(', ')}`, pace === '25/1' && warnings.join() === 'no_telecine')
    },
  },
]
