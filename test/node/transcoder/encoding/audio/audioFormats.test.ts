// Files of audio alone: each codec and container decodes to the audio of its source, from its first sample to its last.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { expect, test } from 'vitest'
import type { AudioCodec, AudioContainer } from '#contract/codecs.ts'
import { pcmKbps } from '#contract/codecs.ts'
import { planJob } from '../../../../../transcoder/plan/planJob.ts'
import { ALL_FEATURES } from '../../../../../transcoder/plan/model/engineFeatures.ts'
import { encodeJob } from '../../../../support/media/encodeJob.ts'
import { audioSamples, dominantFrequency, levelDb, streamDialnorm } from '../../../../support/media/audioSamples.ts'
import { ffmpeg, lavfi, probeFile, tempDirectory } from '../../../../support/media/media.ts'
import { audioProfile, jobSpec, mediaInfo } from '../../../../support/transcoder/jobSpecs.ts'

/** A whole number of frames of no codec. */
const SAMPLES = 149_925
/** The order of decoded channels is that of ffmpeg's 5.1: FL FR FC LFE and the surrounds. */
const SURROUND_HZ = [400, 600, 900, 60, 1300, 1700]
const STEREO_HZ = [440, 660]
/** Silence, then tones: the beginning can be found to the sample. */
const ONSET = 24_000

const tones = (hertz: readonly number[]) => hertz.map((each) => `0.25*sin(2*PI*${each}*t)*gte(n\\,${ONSET})`).join('|')

/** Video, a stereo stream and a 5.1 stream, both of 16 bits at 48 kHz. */
async function makeSource(path: string): Promise<string> {
  await ffmpeg([
    ...lavfi(
      'color=black:s=64x64:r=25:d=3',
      `aevalsrc='${tones(STEREO_HZ)}':s=48000:c=stereo,atrim=end_sample=${SAMPLES}`,
      `aevalsrc='${tones(SURROUND_HZ)}':s=48000:c=5.1,atrim=end_sample=${SAMPLES}`,
    ),
    ...['-map', '0', '-map', '1', '-map', '2', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'pcm_s16le', path],
  ])
  return path
}

interface Format {
  codec: AudioCodec
  container?: AudioContainer
  stereoKbps?: number
  surroundKbps?: number
  /** Samples more than the source has: the last frame is whole where the container does not state the exact length. */
  longer: number
  /** Samples by which the audio is late where the container does not state the encoder's delay. */
  late: number
}

const formats: Format[] = [
  { codec: 'aac', stereoKbps: 128, surroundKbps: 384, longer: 1024, late: 0 },
  { codec: 'ac3', stereoKbps: 192, surroundKbps: 448, longer: 1536 + 256, late: 256 },
  { codec: 'eac3', stereoKbps: 192, surroundKbps: 448, longer: 1536 + 256, late: 256 },
  { codec: 'mp2', stereoKbps: 192, longer: 1152 + 481, late: 481 },
  { codec: 'mp3', stereoKbps: 192, longer: 0, late: 0 },
  { codec: 'opus', stereoKbps: 128, surroundKbps: 256, longer: 0, late: 0 },
  { codec: 'opus', container: 'webm', stereoKbps: 128, surroundKbps: 256, longer: 0, late: 0 },
  { codec: 'flac', surroundKbps: 0, longer: 0, late: 0 },
  { codec: 'pcm', surroundKbps: 0, longer: 0, late: 0 },
]

const profileOf = ({ codec, container, stereoKbps, surroundKbps }: Format, index: number, channels: 2 | 6) => {
  const kbps = channels === 2 ? stereoKbps : surroundKbps
  const bitDepth = codec === 'flac' || codec === 'pcm' ? 16 : null
  return audioProfile({
    index,
    codec,
    channels,
    sourceStream: channels === 2 ? 1 : 2,
    bitDepth,
    bitrateKbps: kbps || pcmKbps({ channels, sampleRate: 48_000, bitDepth: 16 }),
    ...(container === undefined ? {} : { container }),
  })
}

/** The shift in samples, within 700, at which the audio is most like the source's. */
function shiftOf(audio: Float32Array, source: Float32Array): number {
  let [least, shift] = [Infinity, 0]
  for (let by = -700; by <= 700; by += 1) {
    let sum = 0
    // Around the onset, which is unlike every other place.
    for (let at = ONSET - 400; at < ONSET + 400; at += 1) sum += (source[at]! - (audio[at + by] ?? 0)) ** 2
    if (sum < least) [least, shift] = [sum, by]
  }
  return shift
}

test('every codec in every container, from the audio of a film', async () => {
  await using tempDir = await tempDirectory()
  const source = await makeSource(tempDir.file('film.mkv'))
  const spec = jobSpec({ audioDirectory: '', video: [], audio: formats.map((each, at) => profileOf(each, at, 2)) })
  const { outputs, plan } = await encodeJob(spec, source, tempDir.path)
  expect(plan.outputs).toEqual([])
  const wanted = [await audioSamples(source, 0, 0), await audioSamples(source, 0, 1)]
  for (const [at, { codec, longer, late }] of formats.entries()) {
    const file = outputs[at]!
    const { streams } = await probeFile(file)
    const names = streams.map(({ codec_name: name }) => name.replace('pcm_s16le', 'pcm').replace(/^mp3$/, 'mp3'))
    expect(names, file).toEqual(codec === 'mp2' ? [expect.stringMatching(/^mp[23]$/)] : [codec])
    for (const channel of [0, 1]) {
      const audio = await audioSamples(file, 0, channel)
      expect(audio.length - SAMPLES, `${codec} lasts`).toBeGreaterThanOrEqual(0)
      expect(audio.length - SAMPLES, `${codec} lasts`).toBeLessThanOrEqual(longer)
      expect(Math.abs(dominantFrequency(audio) - STEREO_HZ[channel]!), codec).toBeLessThan(4)
      expect(Math.abs(levelDb(audio) - levelDb(wanted[channel]!)), codec).toBeLessThan(0.3)
      expect(Math.abs(shiftOf(audio, wanted[channel]!) - late), `${codec} begins`).toBeLessThanOrEqual(1)
    }
  }
})

test('5.1 keeps each channel in its place', async () => {
  await using tempDir = await tempDirectory()
  const source = await makeSource(tempDir.file('film.mkv'))
  const wide = formats.filter(({ surroundKbps }) => surroundKbps !== undefined)
  const spec = jobSpec({ audioDirectory: '', video: [], audio: wide.map((each, at) => profileOf(each, at, 6)) })
  const { outputs } = await encodeJob(spec, source, tempDir.path)
  for (const [at, { codec }] of wide.entries()) {
    const [stream] = (await probeFile(outputs[at]!)).streams
    expect(stream?.channel_layout, codec).toMatch(/^5\.1/)
    for (const [channel, hertz] of SURROUND_HZ.entries()) {
      const found = dominantFrequency(await audioSamples(outputs[at]!, 0, channel))
      expect(Math.abs(found / hertz - 1), `${codec}, channel ${channel}: ${found} Hz`).toBeLessThan(0.05)
    }
  }
})

test('flac and pcm keep every bit of a source of 16 or 24 bits', async () => {
  await using tempDir = await tempDirectory()
  for (const bitDepth of [16, 24] as const) {
    const source = tempDir.file(`${bitDepth}.wav`)
    const noise = 'anoisesrc=r=48000:d=1:a=0.9:s=7,aformat=channel_layouts=stereo'
    await ffmpeg([...lavfi(noise), '-c:a', `pcm_s${bitDepth}le`, source])
    const spec = jobSpec({
      audioDirectory: '',
      video: [],
      audio: (['flac', 'pcm'] as const).map((codec, index) => audioProfile({ index, codec, bitDepth })),
    })
    const { outputs } = await encodeJob(spec, source, tempDir.path)
    const raw = (path: string) => ffmpeg(['-i', path, '-f', 's32le', '-'])
    const original = await raw(source)
    for (const output of outputs) {
      expect((await raw(output)).equals(original), output).toBe(true)
      const [stream] = (await probeFile(output)).streams
      expect([stream?.bits_per_raw_sample, String(stream?.bits_per_sample)], output).toContain(`${bitDepth}`)
    }
  }
})

test('other sample rates', async () => {
  await using tempDir = await tempDirectory()
  const source = tempDir.file('cd.wav')
  await ffmpeg([...lavfi('sine=f=1000:r=44100:d=2'), '-ac', '2', source])
  const rates = [
    ['mp3', 44_100],
    ['aac', 44_100],
    ['flac', 44_100],
    ['flac', 96_000],
  ] as const
  const audio = rates.map(([codec, sampleRate], index) =>
    audioProfile({ index, codec, sampleRate, bitDepth: codec === 'flac' ? 16 : null }),
  )
  const { outputs } = await encodeJob(jobSpec({ audioDirectory: '', video: [], audio }), source, tempDir.path)
  for (const [at, [codec, rate]] of rates.entries()) {
    const [stream] = (await probeFile(outputs[at]!)).streams
    expect([stream?.codec_name, stream?.sample_rate]).toEqual([codec, `${rate}`])
    const samples = await audioSamples(outputs[at]!)
    expect(Math.abs(dominantFrequency(samples) - 1000)).toBeLessThan(4)
    expect(Math.abs(samples.length - 96_000)).toBeLessThan(codec === 'aac' ? 1200 : 3)
  }
  // A CD keeps every bit.
  const raw = (path: string) => ffmpeg(['-i', path, '-f', 's16le', '-'])
  expect((await raw(outputs[2]!)).equals(await raw(source))).toBe(true)
})

test('eac3 states the dialogue level', async () => {
  await using tempDir = await tempDirectory()
  const source = await makeSource(tempDir.file('film.mkv'))
  const audio = [audioProfile({ codec: 'eac3', bitrateKbps: 192, dialnorm: 24 })]
  const { outputs } = await encodeJob(jobSpec({ audioDirectory: '', video: [], audio }), source, tempDir.path)
  expect(await streamDialnorm(outputs[0])).toBe(24)
})

test('an encoder that this ffmpeg lacks is named', () => {
  const spec = jobSpec({ audioDirectory: '', video: [], audio: [audioProfile({ codec: 'mp3' })] })
  expect(() => planJob(spec, mediaInfo(), { features: { ...ALL_FEATURES, mp3: false } })).toThrow(
    /cannot write mp3: its ffmpeg was built without libmp3lame/,
  )
})
