// In charge of: bitrates, frame rates and GOPs.
import { decodeFrames, kbpsBySecond, readPackets, probeStream, transportRates } from '../../support/media/media.ts'
import { readSignalledBuffer, runDecoderBuffer } from '../../support/media/decoderBuffer.ts'
import { frameSimilarities } from '../../support/media/frameSimilarity.ts'
import { measurement, rejectedRow, type RowContext, type JobChange, type Measurement, type Row } from '../row.ts'

const FULL_HD = { width: 1920, height: 1080, video_bitrate_mode: 'cbr' }
const NO_SOUND = { audioProfiles: [] }

const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
const kbps = (value: number) => `${Math.round(value / 10) * 10} kbps`

/** The bitrate from the second second on: the first second lacks what the decoder buffer, of one second, holds back. */
function holdsRate(wanted: number): Row['measure'] {
  return async (bench) => {
    const rate = mean((await kbpsBySecond(await bench.file())).slice(1, -1))
    return measurement(kbps(rate), Math.abs(rate / wanted - 1) < 0.05)
  }
}

const bitrates: Row[] = [
  rejectedRow(
    { path: 'videoProfiles[].video_bitrate', value: 0, job: { videoProfiles: [{ video_bitrate: 0 }] } },
    'video_bitrate_too_low',
    'videoProfiles[0].video_bitrate',
  ),
  {
    path: 'videoProfiles[].video_bitrate',
    value: 100,
    expected: 'every second has 100 kbps, within 5 %',
    job: { ...NO_SOUND, videoProfiles: [{ width: 64, height: 64, video_bitrate_mode: 'cbr', video_bitrate: 100 }] },
    source: 'long',
    measure: holdsRate(100),
  },
  // Specification 8: 2250 is too low, 2300, 2301 and 2400 are accepted.
  rejectedRow(
    {
      path: 'videoProfiles[].video_bitrate',
      value: 2250,
      job: { videoProfiles: [{ ...FULL_HD, video_bitrate: 2250 }] },
    },
    'video_bitrate_too_low',
    'videoProfiles[0].video_bitrate',
  ),
  ...[2300, 2301, 2400].map((rate, output) => ({
    path: 'videoProfiles[].video_bitrate',
    value: rate,
    expected: `${rate} kbps, within 5 %`,
    job: {
      ...NO_SOUND,
      videoProfiles: [2300, 2301, 2400].map((video_bitrate) => ({ ...FULL_HD, video_bitrate })),
    },
    source: 'hd' as const,
    output,
    measure: holdsRate(rate),
  })),
]

const mode = (video_bitrate_mode: string, video_bitrate = 800) => ({
  ...NO_SOUND,
  videoProfiles: [{ video_bitrate_mode, video_bitrate }],
})
/** For the clip with 4 s of black and 4 s of noise. */
const halves = (seconds: readonly number[]): [number, number] => [mean(seconds.slice(1, 4)), mean(seconds.slice(5, 8))]

const modes: Row[] = [
  ...(['h.264', 'hevc', 'mpeg2'] as const).map((video_codec): Row => {
    const rate = video_codec === 'mpeg2' ? 3000 : 800
    return {
      path: 'videoProfiles[].video_bitrate_mode',
      value: 'cbr',
      expected: `black seconds are filled up to ${rate} kbps, within 2 %; noise stays within rate and buffer`,
      job: { ...mode('cbr', rate), video_codec },
      source: 'uneven',
      measure: async (bench) => {
        const seconds = await kbpsBySecond(await bench.file())
        const [black, noise] = halves(seconds)
        const filled = seconds.slice(1, 4).every((each) => Math.abs(each / rate - 1) < 0.02)
        return measurement(`black ${kbps(black)}, noise ${kbps(noise)}`, filled && noise < rate * 1.36)
      },
      // By the times of its frames, up to 0.6 s of a chunk come before it: more of a second than of a chunk that a job can have.
      divided: {
        expected: `what a decoder’s buffer gets at ${rate} kbps is never too late and never too much`,
        measure: async (bench) => {
          const { bytes, signalled: _, ...model } = await readSignalledBuffer(await bench.file())
          const { late, overflow } = runDecoderBuffer(bytes, model)
          const measured = `${kbps(model.rate / 1000)}, ${late.length} frames late, ${Math.max(0, overflow)} bits too much`
          return measurement(
            measured,
            Math.abs(model.rate / 1000 / rate - 1) < 0.02 && late.length === 0 && overflow <= 0,
          )
        },
      },
    }
  }),
  {
    path: 'videoProfiles[].video_bitrate_mode',
    value: 'cbr',
    expected: 'a transport stream with one rate throughout, within 0.5 %, and no broken counter',
    job: { ...mode('cbr'), output_container: 'ts' },
    source: 'uneven',
    measure: async (bench) => {
      const { kbps: rates, counterErrors } = await transportRates(await bench.file())
      const middle = mean(rates)
      const spread = Math.max(...rates.map((rate) => Math.abs(rate / middle - 1)))
      const measured = `${kbps(middle)} ± ${(spread * 100).toFixed(1)} %, ${counterErrors} broken`
      return measurement(measured, spread < 0.005 && counterErrors === 0 && middle > 800)
    },
  },
  {
    path: 'videoProfiles[].video_bitrate_mode',
    value: 'vbr',
    expected: 'black needs little, noise about 800 kbps',
    job: mode('vbr'),
    source: 'uneven',
    measure: async (bench) => {
      const [black, noise] = halves(await kbpsBySecond(await bench.file()))
      return measurement(`black ${kbps(black)}, noise ${kbps(noise)}`, black < 100 && noise > 600 && noise < 1250)
    },
  },
  {
    path: 'videoProfiles[].video_bitrate_mode',
    value: 'qvbr',
    expected: 'the same bits below a cap of 3000 and of 6000 kbps: the quality decides',
    job: mode('qvbr', 3000),
    measure: async (bench) => {
      const [own, wider] = await Promise.all(
        [await bench.file(), await bench.encodeOther(mode('qvbr', 6000))].map(async (file) =>
          mean(await kbpsBySecond(file)),
        ),
      )
      return measurement(`${kbps(own!)} and ${kbps(wider!)}`, own! < 3000 && Math.abs(wider! / own! - 1) < 0.02)
    },
  },
  {
    path: 'videoProfiles[].video_bitrate_mode',
    value: 'qvbr',
    expected: 'noise, which no quality could hold, stays below the cap of 600 kbps',
    job: mode('qvbr', 600),
    source: 'uneven',
    measure: async (bench) => {
      const [black, noise] = halves(await kbpsBySecond(await bench.file()))
      return measurement(`black ${kbps(black)}, noise ${kbps(noise)}`, black < 100 && noise > 450 && noise < 620)
    },
  },
]

const quality = (h264_quality: string) => ({
  ...NO_SOUND,
  h264_quality,
  videoProfiles: [{ width: 640, height: 360, video_bitrate: 350 }],
})
async function similarity(file: string, source: string): Promise<number> {
  return mean(await frameSimilarities(file, ['-i', source]))
}
const order = ['good', 'better', 'best'] as const

const qualities = order.map((value, index): Row => {
  const below = order[index - 1]
  return {
    path: 'h264_quality',
    value,
    expected: below === undefined ? 'the quickest: SSIM to the source above 0.8' : `closer to the source than ${below}`,
    job: quality(value),
    source: 'detail',
    measure: async (bench) => {
      const own = await similarity(await bench.file(), await bench.source())
      if (below === undefined) return measurement(`SSIM ${own.toFixed(3)}`, own > 0.8)
      const less = await similarity(await bench.encodeOther(quality(below)), await bench.source())
      return measurement(`SSIM ${own.toFixed(3)}, ${below} ${less.toFixed(3)}`, own > less)
    },
  }
})

const hevc = (h264_quality: string) => ({ ...quality(h264_quality), video_codec: 'hevc' })
const MPEG2 = { ...NO_SOUND, video_codec: 'mpeg2', videoProfiles: [{ width: 640, height: 360, video_bitrate: 1500 }] }

const otherCodecs: Row[] = [
  ...order.map((value, index): Row => {
    const below = order[index - 1]
    return {
      path: 'h264_quality',
      value,
      expected: below === undefined ? 'hevc, the quickest: SSIM above 0.8' : `hevc, closer to the source than ${below}`,
      job: hevc(value),
      source: 'detail',
      measure: async (bench) => {
        const own = await similarity(await bench.file(), await bench.source())
        if (below === undefined) return measurement(`SSIM ${own.toFixed(3)}`, own > 0.8)
        const less = await similarity(await bench.encodeOther(hevc(below)), await bench.source())
        return measurement(`SSIM ${own.toFixed(3)}, ${below} ${less.toFixed(3)}`, own > less)
      },
    }
  }),
  ...order.map((value): Row => ({
    path: 'h264_quality',
    value,
    expected: value === 'good' ? 'mpeg2: no warning' : 'mpeg2: the packets of good, and the warning no_effect',
    job: { ...MPEG2, h264_quality: value },
    source: 'detail',
    measure: async (bench) => {
      const sizes = async (file: string) => (await readPackets(file)).map(({ size }) => size).join()
      const same =
        (await sizes(await bench.file())) === (await sizes(await bench.encodeOther({ ...MPEG2, h264_quality: 'good' })))
      const warnings = (await bench.warnings()).join(', ') || 'no warning'
      const wanted = value === 'good' ? 'no warning' : 'no_effect'
      return measurement(`${same ? 'the same' : 'other'} packets, ${warnings}`, same && warnings === wanted)
    },
  })),
]

/** Key frames and their distance, and whether no frame after one is displayed before it. */
async function gops(bench: RowContext): Promise<{ count: number; distances: number[]; closed: boolean }> {
  const file = await bench.file()
  const decoded = await decodeFrames(file)
  const keys = decoded.flatMap((frame, index) => (frame.key_frame === 1 ? [index] : []))
  let last = -Infinity
  let closed = true
  for (const packet of await readPackets(file)) {
    if (packet.flags.startsWith('K')) last = Number(packet.pts_time)
    closed &&= Number(packet.pts_time) >= last
  }
  return { count: decoded.length, distances: keys.slice(1).map((key, index) => key - keys[index]!), closed }
}

function gopRow(value: number, pictures: number, row: Partial<Row> & { job: JobChange }): Row {
  return {
    path: 'gop_length',
    value,
    expected: `a key frame every ${pictures} pictures, exactly, and closed GOPs`,
    source: 'changes',
    measure: async (bench): Promise<Measurement> => {
      const { distances, closed } = await gops(bench)
      const measured = `every ${[...new Set(distances)].join(', ')}; ${closed ? 'closed' : 'open'}`
      return measurement(measured, distances.length > 0 && distances.every((each) => each === pictures) && closed)
    },
    ...row,
  }
}

const lengths: Row[] = [
  gopRow(0.01, 1, { job: { ...NO_SOUND, gop_length: 0.01 } }),
  gopRow(0.48, 12, { job: { ...NO_SOUND, gop_length: 0.48 } }),
  ...['h.264', 'hevc', 'mpeg2'].map((video_codec) =>
    gopRow(1, 25, { job: { ...NO_SOUND, gop_length: 1, video_codec }, quick: video_codec === 'h.264' }),
  ),
  gopRow(60, 300, {
    job: { ...NO_SOUND, gop_length: 60, videoProfiles: [{ width: 64, height: 64 }] },
    source: 'long',
    quick: true,
  }),
]

function distanceRow(value: number, job: JobChange): Row {
  return {
    path: 'ip_distance',
    value,
    expected: `I and P pictures ${value} apart; less only where a GOP ends`,
    job: { ...NO_SOUND, ...job },
    quick: job['video_codec'] === undefined,
    measure: async (bench) => {
      const apart = await anchorDistances(bench)
      // The GOP of 25 ends with a shorter group.
      const rest = 24 % value || value
      const measured = [...new Set(apart)].join(', ')
      return measurement(measured, apart.every((each) => [value, rest, 1].includes(each)) && apart[0] === value)
    },
  }
}

/** Distances between the frames that are not B-frames. */
async function anchorDistances(bench: RowContext): Promise<number[]> {
  const decoded = await decodeFrames(await bench.file())
  const anchors = decoded.flatMap((frame, index) => (frame.pict_type === 'B' ? [] : [index]))
  return anchors.slice(1).map((anchor, index) => anchor - anchors[index]!)
}

const distances: Row[] = [
  ...['h.264', 'hevc', 'mpeg2'].map((video_codec) =>
    distanceRow(1, { ip_distance: 1, ...(video_codec === 'h.264' ? {} : { video_codec }) }),
  ),
  ...['h.264', 'hevc', 'mpeg2'].map((video_codec) =>
    distanceRow(8, { ip_distance: 8, ...(video_codec === 'h.264' ? {} : { video_codec }) }),
  ),
  distanceRow(3, {}),
  {
    path: 'ip_distance',
    value: 8,
    expected: 'never more than 8, also where scenes change (there x265 puts a P picture by itself)',
    job: { ...NO_SOUND, ip_distance: 8, video_codec: 'hevc' },
    source: 'changes',
    measure: async (bench) => {
      const most = Math.max(...(await anchorDistances(bench)))
      return measurement(`at most ${most}`, most === 8)
    },
  },
]

const factors = { '1x': [50, '25/1'], '1/2x': [25, '25/2'], '2x': [100, '50/1'] } as const
const factorJob = { ...NO_SOUND, videoProfiles: Object.keys(factors).map((video_framerate) => ({ video_framerate })) }

async function rateOf(bench: RowContext, count: number, rate: string): Promise<Measurement> {
  const file = await bench.file()
  const decoded = await decodeFrames(file)
  const { avg_frame_rate } = await probeStream(file, 'video')
  return measurement(
    `${decoded.length} pictures at ${avg_frame_rate}`,
    decoded.length === count && avg_frame_rate === rate,
  )
}

export const rate: Row[] = [
  ...bitrates,
  ...modes,
  ...qualities,
  ...otherCodecs,
  ...lengths,
  ...distances,
  ...Object.entries(factors).map(([value, [count, pace]], output): Row => ({
    path: 'videoProfiles[].video_framerate',
    value,
    expected: `${count} pictures at ${pace} a second of 50 at 25`,
    job: factorJob,
    output,
    quick: true,
    measure: (bench) => rateOf(bench, count, pace),
  })),
  ...(
    [
      [true, 52, '26/1'],
      [false, 50, '25/1'],
    ] as const
  ).map(([value, count, pace]): Row => ({
    path: 'keep_fps',
    value,
    expected: `${count} pictures at ${pace} a second of 52 at 26`,
    job: { ...NO_SOUND, keep_fps: value },
    source: 'odd',
    quick: true,
    measure: (bench) => rateOf(bench, count, pace),
  })),
]
