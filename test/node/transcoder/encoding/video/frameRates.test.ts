// Frame rates that a container does not state, states wrongly, or varies: every picture of the source is in the output,
// at its time.
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ffmpeg } from '../../../../support/media/media.ts'
import { encoderIn } from '../../../../support/media/encodeJob.ts'
import { frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { jobSpec, videoProfile } from '../../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
const words = (text: string) => text.split(' ')
const spec = jobSpec({ video: [videoProfile({ width: 192, height: 48, bitrateKbps: 400 })], audio: [] })

/** The pictures of the output, each with the time in seconds at which it begins. */
async function shown(
  clip: string,
): Promise<{ rate: number; seconds: number; starts: Map<number, number>; codes: string[] }> {
  const { outputs, plan } = await encode(spec, clip)
  const { num, den } = plan.outputs[0]!.video.frameRate
  const numbers = await frameNumbers(outputs[0])
  const starts = new Map<number, number>()
  for (const [place, number] of numbers.entries()) if (!starts.has(number)) starts.set(number, (place * den) / num)
  return {
    rate: num / den,
    seconds: (numbers.length * den) / num,
    starts,
    codes: plan.warnings.map(({ code }) => code),
  }
}

/** A clip whose frame `n` is at `times[n]`; the last frame ends at `end`. */
async function timedClip(name: string, times: readonly number[], end: number): Promise<string> {
  const even = await makeNumberedClip(tempDir.file(`even-${name}.mp4`), {
    seconds: times.length / 25,
    audio: ['-an'],
    video: words('-bf 0 -video_track_timescale 90000'),
  })
  const clip = tempDir.file(name)
  const place = times.map((time, n) => `eq(N\\,${n})*${Math.round(time * 90_000)}`).join('+')
  const last = `if(eq(N\\,${times.length - 1})\\,${Math.round((end - times.at(-1)!) * 90_000)}\\,DURATION)`
  await ffmpeg([
    '-i',
    even,
    ...words('-c copy -bsf:v'),
    `setts=ts=${place}:duration=${last}`,
    ...words('-video_track_timescale 90000'),
    clip,
  ])
  return clip
}

async function remux(from: string, name: string): Promise<string> {
  await ffmpeg(['-i', from, '-c', 'copy', tempDir.file(name)])
  return tempDir.file(name)
}

/** As browsers write it: without the length of a frame in the header. */
async function withoutDefaultDuration(path: string): Promise<string> {
  const bytes = await readFile(path)
  const at = bytes.indexOf(Buffer.from([0x23, 0xe3, 0x83, 0x84]))
  // An element Void of the same length.
  if (at !== -1) bytes.set([0xec, 0x86], at)
  await writeFile(path, bytes)
  return path
}

test.each([15, 30])('a WebM of %i fps without a stated rate', async (rate) => {
  const clip = await makeNumberedClip(tempDir.file(`browser-${rate}.webm`), {
    seconds: 2,
    rate: `${rate}`,
    video: words('-c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M'),
    audio: ['-an'],
  })
  const made = await shown(await withoutDefaultDuration(clip))
  expect(made).toMatchObject({ rate, codes: [] })
  expect(made.starts.size).toBe(2 * rate)
})

test('recordings of a browser, of about 10 and of 30 fps', async () => {
  const times = [0, 0.1, 0.164, 0.202, 0.248, 0.9, ...Array.from({ length: 40 }, (_, n) => 1 + n / 30)]
  const clip = await withoutDefaultDuration(await remux(await timedClip('bursts.mp4', times, 2.4), 'bursts.mkv'))
  const made = await shown(clip)
  expect(made).toMatchObject({ rate: 30, codes: ['variable_frame_rate'] })
  expect([...made.starts.keys()]).toEqual(times.map((_, n) => n))
})

test('slides: none is lost, and the last one is shown to its end', async () => {
  const made = await shown(await timedClip('slides.mp4', [0, 1, 2], 6))
  expect([...made.starts]).toEqual([
    [0, 0],
    [1, expect.closeTo(1, 1)],
    [2, expect.closeTo(2, 1)],
  ])
  expect(made.seconds).toBeCloseTo(6, 1)
  expect(made.codes).toEqual(['variable_frame_rate'])
})

test('the last picture of a variable rate is shown, with its duration', async () => {
  const times = [...Array.from({ length: 30 }, (_, n) => n / 60), 1.5]
  const made = await shown(await timedClip('last.mp4', times, 2))
  expect(made.rate).toBe(60)
  expect(made.starts.size).toBe(31)
  expect(made.starts.get(30)).toBeCloseTo(1.5, 1)
  expect(made.seconds).toBeCloseTo(2, 1)
})

test('milliseconds that are rounded: the last of 30 pictures is shown', async () => {
  const clip = await makeNumberedClip(tempDir.file('rounded.flv'), {
    seconds: 1,
    rate: '30',
    audio: ['-an'],
    video: ['-bf', '0', '-flvflags', 'no_metadata'],
  })
  const made = await shown(clip)
  expect(made).toMatchObject({ rate: 30, codes: [] })
  expect(made.starts.size).toBe(30)
})

test.each(['h264', 'hevc'])('a %s stream whose clock says 1000 fps: its pictures one by one, at 25', async (codec) => {
  const clip = await makeNumberedClip(tempDir.file(`count.${codec}`), {
    seconds: 0.05,
    rate: '1000',
    audio: ['-an'],
    video: codec === 'hevc' ? words('-c:v libx265 -x265-params log-level=error') : [],
  })
  const made = await shown(clip)
  expect(made).toMatchObject({ rate: 25, seconds: 2, codes: ['frame_rate_assumed'] })
  expect(made.starts.size).toBe(50)
})

test('true 1000 fps: every fourth picture', async () => {
  const clip = await makeNumberedClip(tempDir.file('fast.mp4'), { seconds: 0.2, rate: '1000', audio: ['-an'] })
  const made = await shown(clip)
  expect(made).toMatchObject({ rate: 250, codes: ['frame_rate_reduced'] })
  expect(made.starts.size).toBe(50)
})
