// Frames that begin with lines of the vertical blanking (D-10/IMX of 608 and 512 lines): decoded outputs, previews and
// joined inputs show the picture alone, in its place, with its fields.
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { capturePreview } from '../../../../../transcoder/analysis/sourcePreview.ts'
import { measureSource } from '../../../../../transcoder/analysis/measureSource.ts'
import { pictureLines } from '../../../../../transcoder/plan/model/blanking.ts'
import { encodeJob, probeOnce } from '../../../../support/media/encodeJob.ts'
import { barPositions } from '../../../../support/media/interlacedClip.ts'
import { decodeFrames, decodeRaw, ffmpeg, lavfi, probeStream, testFfmpeg } from '../../../../support/media/media.ts'
import { openAttemptFixture } from '../../../../support/transcoder/attemptFixture.ts'
import { JoinedTasks } from '../../../../support/transcoder/joinedTask.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'

let tasks: JoinedTasks
const path = (name: string) => tasks.path(name)
beforeAll(async () => {
  tasks = new JoinedTasks(await openAttemptFixture())
})
afterAll(async () => {
  await tasks.stop()
  await tasks.fixture.remove()
})

const RULER = 100
const SYSTEMS = [
  { lines: 576, rate: '50', order: 'top', sar: '16:15', file: '625.mxf' },
  { lines: 480, rate: '60000/1001', order: 'bottom', sar: '8:9', file: '525.mov' },
] as const

/** Black, with a bar that moves from field to field, and a white ruler; above it the blanking, full of white data. */
async function makeTape({ lines, rate, order, file }: (typeof SYSTEMS)[number]): Promise<string> {
  const bar = `color=black:s=720x${lines}:r=${rate}:d=0.4[b];color=white:s=36x${lines}:r=${rate}:d=0.4[w];[b][w]overlay=x=36+4*n`
  const ruler = `drawbox=x=600:y=${RULER}:w=100:h=4:color=white:t=fill`
  const frame = `pad=720:${lines + 32}:0:32:white,format=yuv422p`
  const graph = `${bar},format=yuv444p,tinterlace=mode=interleave_${order},${ruler},${frame}`
  const coding = `-c:v mpeg2video -g 1 -flags +ilme+ildct -b:v 50M -top ${order === 'top' ? 1 : 0} -aspect 4:3`
  await ffmpeg(['-y', ...lavfi(graph), ...coding.split(' '), path(file)])
  return path(file)
}

/** Luma of one column of the first frame. */
function column(gray: Buffer, width: number, x: number): number[] {
  return Array.from({ length: gray.length / width }, (_, y) => gray[y * width + x]!)
}

describe.each(SYSTEMS)('$lines lines', (system) => {
  const { lines, order, sar, file } = system

  test('the output has the picture alone, unscaled, in its fields', async () => {
    const engine = await testFfmpeg()
    const clip = await makeTape(system)
    const media = await probeOnce(engine, clip, { cwd: path('') })
    expect(media.video).toMatchObject({ width: 720, height: lines, blanking: { lines: 32 } })
    const spec = jobSpec({ video: [videoProfile({ audioProfiles: [], bitrateKbps: 8000, width: 0, height: 0 })] })
    const { outputs, plan } = await encodeJob(spec, clip, path(''))
    expect(plan.warnings.map(({ code }) => code)).toEqual(['blanking_removed'])
    expect(await probeStream(outputs[0], 'video')).toMatchObject({
      width: 720,
      height: lines,
      sample_aspect_ratio: sar,
      display_aspect_ratio: '4:3',
    })
    const gray = (await decodeRaw(outputs[0], 'gray', ['-frames:v', '1'])).subarray(0, 720 * lines)
    const [left, right] = [column(gray, 720, 10), column(gray, 720, 650)]
    expect(Math.max(...left)).toBeLessThan(40)
    const bright = right.flatMap((luma, y) => (luma > 128 ? [y] : []))
    expect(bright).toEqual([RULER, RULER + 1, RULER + 2, RULER + 3])
    expect((await decodeFrames(outputs[0])).every((frame) => frame.interlaced_frame === 1)).toBe(true)
    expect(plan.outputs[0]?.video?.scan).toBe(order === 'top' ? 'tff' : 'bff')
    const places = await barPositions(outputs[0])
    const steps = places.slice(1).map((place, index) => place - places[index]!)
    expect(Math.min(...steps)).toBeGreaterThan(0)
  })

  test('the preview and the look at the fields leave it out', async () => {
    const engine = await testFfmpeg()
    const media = await probeOnce(engine, path(file), { cwd: path('') })
    const options = { cwd: path(''), signal: AbortSignal.timeout(60_000), seekable: false, threads: 1 }
    const jpeg = await capturePreview(engine, `file:${path(file)}`, media, options)
    await writeFile(path(`${lines}.jpg`), jpeg!)
    const { width, height } = await probeStream(path(`${lines}.jpg`), 'video')
    expect(width / height).toBeCloseTo(4 / 3, 2)
    expect(Math.max(...column(await decodeRaw(path(`${lines}.jpg`), 'gray'), width, 8))).toBeLessThan(40)
    const asked = { spec: jobSpec({ detelecine: true }), media, verdict: null }
    const { video } = await measureSource(engine, `file:${path(file)}`, asked, { cwd: path('') })
    expect(video?.scan?.[order === 'top' ? 'tff' : 'bff']).toBeGreaterThan(5)
  })
})

test('joined with a picture of the usual size, and in stills', async () => {
  const objects = await tasks.run([{ file: '625.mxf' }, { file: '525.mov' }], {
    audioProfiles: [],
    stills: [{ at_seconds: [0, 0.6], format: 'jpeg', quality: 80, output: 'still.jpg' }],
  })
  expect(tasks.warnings).toContain('blanking_removed')
  for (const [name, bytes] of objects) {
    if (!/\.(mp4|jpg)$/.test(name)) continue
    const file = path(name.replaceAll('/', '_'))
    await writeFile(file, bytes)
    const { width, height } = await probeStream(file, 'video')
    const gray = await decodeRaw(file, 'gray')
    for (let at = 0; at < gray.length; at += width * height)
      expect(Math.max(...column(gray.subarray(at, at + width * height), width, 3)), name).toBeLessThan(60)
  }
})

test.each([
  ['h264', 'yuv420p', 'progressive', 'mov'],
  ['hevc', 'yuv420p', 'unknown', 'matroska'],
])('a %s video for the web that happens to have this size keeps it', (codec, pixels, order, format) => {
  const size = { width: 720, height: 512, sar: { num: 1, den: 1 }, frameRate: { num: 30_000, den: 1001 } }
  const frame = { codec, ...size, fieldOrder: order, pixelFormat: pixels }
  expect(pictureLines(frame, [format])).toEqual({})
  expect(pictureLines({ ...frame, fieldOrder: 'bb' }, [format])).toMatchObject({ height: 480, blanking: { lines: 32 } })
})
