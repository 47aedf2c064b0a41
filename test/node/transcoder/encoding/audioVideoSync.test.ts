// A flash and a beep in each second, decoded: audio and video stay within 10 ms of the source, from the first to the
// last. LONG=1: every combination over 60 s, with the measurements of each.
import { expect, test } from 'vitest'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { ffmpeg } from '../../../support/media/media.ts'
import { encoderIn } from '../../../support/media/encodeJob.ts'
import { audioVideoOffsets, makeSyncClip, type SyncClipRate } from '../../../support/media/syncClip.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { sampled } from '../../../support/longForm.ts'

const LONG = process.env['LONG'] === '1'
const SECONDS = LONG ? 60 : 8
const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)

type Case = [source: 'ts' | 'mp4' | 'mkv', output: 'ts' | 'mp4', rate: SyncClipRate, late: number, trim?: number]

const sources = { ts: 'mp2', mp4: 'aac', mkv: 'ac3' } as const
const outputs = { mp4: 'aac', ts: 'mp2' } as const

/** Each value of each column at least twice. */
const few: Case[] = [
  ['ts', 'mp4', '25', 0.02],
  ['ts', 'ts', '25', -0.3],
  ['ts', 'mp4', '30000/1001', -1.09],
  ['ts', 'ts', '60000/1001', 1.2],
  ['mp4', 'mp4', '25', 0.3],
  ['mp4', 'ts', '30000/1001', -0.02],
  ['mp4', 'mp4', '60000/1001', 1.2],
  ['mkv', 'mp4', '30000/1001', 0],
  ['mkv', 'ts', '25', -0.3],
  ['mkv', 'mp4', '60000/1001', -0.02],
  ['mp4', 'mp4', '25', 0, 2.33],
  ['ts', 'mp4', '30000/1001', 0, 2.33],
  ['mkv', 'ts', '25', 0.02, 2.33],
]
const all = (['ts', 'mp4', 'mkv'] as const).flatMap((from) =>
  (['25', '30000/1001', '60000/1001'] as const).flatMap((rate) =>
    ([[0], [0.02], [-0.02], [0.3], [-0.3], [1.2], [-1.2], [0, 2.33]] as const).flatMap(([late, trim]) =>
      (['mp4', 'ts'] as const).map((to): Case =>
        trim === undefined ? [from, to, rate, late] : [from, to, rate, late, trim],
      ),
    ),
  ),
)

test.each(LONG ? all : sampled(few, 4))(
  '%s to %s at %s, audio %s s late, trimmed by %s',
  async (from, to, rate, late, trim) => {
    const name = `${rate.replace('/', '_')}_${late}_${trim}.${from}`
    const options = { rate, seconds: SECONDS + (trim ?? 0), audioLate: late, audioCodec: sources[from] }
    const clip = await makeSyncClip(tempDir.file(name), trim === undefined ? options : { ...options, trim })
    const spec = jobSpec({
      container: to,
      video: [videoProfile({ width: 64, height: 64, bitrateKbps: 200 })],
      audio: [audioProfile({ codec: outputs[to], bitrateKbps: 192 })],
    })
    const { outputs: files } = await encode(spec, clip)
    const before = await audioVideoOffsets(clip)
    const after = await audioVideoOffsets(files[0])
    expect(before.delays.length).toBeGreaterThanOrEqual(SECONDS - 3)
    expect(after.pictures.length).toBeGreaterThanOrEqual(before.pictures.length - 1)
    expect(Math.abs(after.delays.length - before.delays.length)).toBeLessThanOrEqual(1)
    const common = Math.min(before.delays.length, after.delays.length)
    const source = before.delays.slice(-common)
    const moved = after.delays.slice(-common).map((delay, index) => delay - source[index]!)
    const worst = moved.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a))
    const drift = moved.at(-1)! - moved[0]!
    if (LONG)
      console.log(
        `SYNC ${from}>${to} ${rate} late ${late} trim ${trim ?? 0}: worst ${ms(worst)} drift ${ms(drift)} of ${common} beeps`,
      )
    expect(Math.abs(worst), `moved by ${moved.map(ms).join(' ')}`).toBeLessThan(0.01)
    expect(Math.abs(drift)).toBeLessThan(0.005)
  },
)

test('missing packets of sound become silence, also where they are few: what follows is not early', async () => {
  const whole = await makeSyncClip(tempDir.file('whole.mkv'), {
    rate: '25',
    seconds: SECONDS,
    audioLate: 0,
    audioCodec: 'ac3',
  })
  const clip = tempDir.file('gaps.mkv')
  // Two packets of 32 ms, 1.5 s after the beginning and again 3 s later.
  await ffmpeg(['-i', whole, '-c', 'copy', '-bsf:a', "noise=drop='between(n,47,48)+between(n,141,142)'", clip])
  const spec = jobSpec({
    container: 'mp4',
    video: [videoProfile({ width: 64, height: 64, bitrateKbps: 200 })],
    audio: [audioProfile({ codec: 'aac', bitrateKbps: 192 })],
  })
  const { outputs: files } = await encode(spec, clip)
  const [source, made] = [await audioVideoOffsets(whole), await audioVideoOffsets(files[0])]
  expect(made.delays).toHaveLength(source.delays.length)
  for (const [beep, delay] of made.delays.entries())
    expect(Math.abs(delay - source.delays[beep]!), `beep ${beep}`).toBeLessThan(0.01)
})

function ms(seconds: number): string {
  return `${(seconds * 1000).toFixed(2)} ms`
}
