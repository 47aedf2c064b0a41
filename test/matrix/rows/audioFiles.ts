// In charge of: files of audio alone (jobs without video): codecs, containers, bitrates, sample rates, bit depths.
// Not in charge of: audio with video (audio.ts), audio in segments (segmentedAudio.ts).
import { open } from 'node:fs/promises'
import type { AudioCodec, AudioContainer } from '#contract/codecs.ts'
import { AUDIO_CODECS, AUDIO_CONTAINERS, audioFileOf } from '#contract/codecs.ts'
import { allowedAudioBitrates } from '#contract/job/rules/audioBitrates.ts'
import { audioSamples, dominantFrequency } from '../../support/media/audioSamples.ts'
import { ffmpeg, probeFile, probeStream } from '../../support/media/media.ts'
import { measurement, type JobChange, type Row } from '../row.ts'
import { SURROUND_HZ } from '../sourceClips.ts'

const fileJob = (audioProfiles: Record<string, unknown>[]): JobChange => ({
  videoProfiles: [],
  audioProfiles: audioProfiles.map((each) => ({ audio_container: containerOf(each['audio_codec']), ...each })),
})

const containerOf = (name: unknown): AudioContainer =>
  audioFileOf(AUDIO_CODECS.find((codec) => codec === name) ?? 'aac', null).container

const hertz = (value: number) => `${Math.round(value / 10) * 10} Hz`

/** Codec in requests → the name that ffprobe has for what the default job writes. */
const NEW_CODECS = { mp3: 'mp3', opus: 'opus', flac: 'flac', eac3: 'eac3', pcm: 'pcm_s16le' } as const
type NewCodec = keyof typeof NEW_CODECS
const names = Object.keys(NEW_CODECS) as NewCodec[]
/** flac and pcm have none. */
const rate = (codec: AudioCodec) => (allowedAudioBitrates(codec, 2) === null ? {} : { audio_bitrate: '192' })

const codecs = names.map((codec, position): Row => ({
  path: 'audioProfiles[].audio_codec',
  value: codec,
  expected: `a file of ${codec}, 48 kHz, a tone of 440 Hz for 2 s`,
  job: fileJob(names.map((audio_codec) => ({ audio_codec, ...rate(audio_codec) }))),
  source: 'small',
  output: position,
  quick: true,
  measure: async (bench) => {
    const file = await bench.file()
    const { streams } = await probeFile(file)
    const { codec_name: name, sample_rate: hz } = await probeStream(file, 'audio')
    const heard = await audioSamples(file)
    const [tone, seconds] = [dominantFrequency(heard), heard.length / 48_000]
    const right = name === NEW_CODECS[codec] && hz === '48000' && streams.length === 1
    const measured = `${name}, ${hz} Hz, ${hertz(tone)} for ${seconds.toFixed(0)} s`
    return measurement(measured, right && Math.abs(tone - 440) < 4 && Math.abs(seconds - 2) < 0.1)
  },
}))

const withVideo = (['opus', 'flac', 'eac3'] as const).map((codec, position): Row => ({
  path: 'audioProfiles[].audio_codec',
  value: codec,
  expected: `${codec} with video in mp4: a tone of 440 Hz for 2 s`,
  job: {
    output_container: 'mp4',
    videoProfiles: [{ width: 64, height: 64, video_bitrate: 100 }],
    audioProfiles: ['opus', 'flac', 'eac3'].map((audio_codec) => ({ audio_codec, ...rate(audio_codec as AudioCodec) })),
  },
  source: 'small',
  measure: async (bench) => {
    const file = await bench.file()
    const { codec_name: name } = await probeStream(file, 'audio', position)
    const heard = await audioSamples(file, position)
    const [tone, seconds] = [dominantFrequency(heard), heard.length / 48_000]
    return measurement(
      `${name}, ${hertz(tone)} for ${seconds.toFixed(0)} s`,
      name === codec && Math.abs(tone - 440) < 4 && Math.abs(seconds - 2) < 0.1,
    )
  },
}))

const CODEC_OF: Record<AudioContainer, AudioCodec> = {
  m4a: 'aac',
  ac3: 'ac3',
  mp2: 'mp2',
  mp3: 'mp3',
  ogg: 'opus',
  webm: 'opus',
  flac: 'flac',
  eac3: 'eac3',
  wav: 'pcm',
}
/** The first bytes of each container: what a player, which is not told the name, reads. */
const SIGNATURES: Record<AudioContainer, (bytes: Buffer) => boolean> = {
  m4a: (bytes) => bytes.toString('latin1', 4, 11) === 'ftypM4A',
  ac3: (bytes) => bytes.readUInt16BE(0) === 0x0b77 && bytes[5]! >> 3 === 8,
  mp2: (bytes) => (bytes.readUInt16BE(0) & 0xfffe) === 0xfffc,
  mp3: (bytes) => (bytes.readUInt16BE(0) & 0xfffe) === 0xfffa,
  ogg: (bytes) => bytes.toString('latin1', 0, 4) === 'OggS' && bytes.toString('latin1', 28, 36) === 'OpusHead',
  webm: (bytes) => bytes.readUInt32BE(0) === 0x1a45dfa3 && bytes.includes('webm'),
  flac: (bytes) => bytes.toString('latin1', 0, 4) === 'fLaC',
  eac3: (bytes) => bytes.readUInt16BE(0) === 0x0b77 && bytes[5]! >> 3 === 16,
  wav: (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE',
}

const firstBytes = async (path: string): Promise<Buffer> => {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const containers = AUDIO_CONTAINERS.map((audio_container): Row => {
  const codec = CODEC_OF[audio_container]
  return {
    path: 'audioProfiles[].audio_container',
    value: audio_container,
    expected: `${codec} in a file that begins as ${audio_container} does, and decodes`,
    job: fileJob([{ audio_codec: codec, audio_container, ...rate(codec) }]),
    source: 'small',
    quick: audio_container === 'webm',
    measure: async (bench) => {
      const [made] = await bench.files()
      const begins = SIGNATURES[audio_container](await firstBytes(made!.file))
      const tone = dominantFrequency(await audioSamples(made!.file))
      const extension = made!.path.split('.').at(-1)!
      return measurement(
        `.${extension}, ${begins ? audio_container : 'something else'}, ${hertz(tone)}`,
        begins && Math.abs(tone - 440) < 4,
      )
    },
  }
})

const RATE_JOB = fileJob([
  { audio_codec: 'mp3', audio_sample_rate: '44100' },
  { audio_codec: 'flac', audio_bitrate: undefined, audio_sample_rate: '48000' },
  { audio_codec: 'flac', audio_bitrate: undefined, audio_sample_rate: '96000' },
])
const sampleRates = (['44100', '48000', '96000'] as const).map((value, output): Row => ({
  path: 'audioProfiles[].audio_sample_rate',
  value,
  expected: `${value} samples a second, a tone of 440 Hz for 2 s`,
  job: RATE_JOB,
  source: 'small',
  output,
  quick: true,
  measure: async (bench) => {
    const file = await bench.file()
    const { sample_rate: hz } = await probeStream(file, 'audio')
    const heard = await audioSamples(file)
    const [tone, seconds] = [dominantFrequency(heard), heard.length / 48_000]
    const right = hz === value && Math.abs(tone - 440) < 4 && Math.abs(seconds - 2) < 0.1
    return measurement(`${hz} Hz, ${hertz(tone)} for ${seconds.toFixed(0)} s`, right)
  },
}))

const DEPTH_JOB = fileJob(
  ['16', '24'].flatMap((audio_bit_depth) =>
    ['flac', 'pcm'].map((audio_codec) => ({ audio_codec, audio_bitrate: undefined, audio_bit_depth })),
  ),
)
const bitDepths = (['16', '24'] as const).map((value, index): Row => ({
  path: 'audioProfiles[].audio_bit_depth',
  value,
  expected: `flac and pcm of ${value} bits, in which ${value === '16' ? 'no sample has more' : 'samples have more than 16'}`,
  job: DEPTH_JOB,
  source: 'small',
  quick: true,
  measure: async (bench) => {
    const files = (await bench.files()).slice(2 * index, 2 * index + 2)
    const used = await Promise.all(
      files.map(async ({ file }) => {
        const raw = await ffmpeg(['-i', file, '-f', 's32le', '-'])
        const samples = new Int32Array(raw.buffer, raw.byteOffset, raw.length >> 2)
        return samples.some((sample) => (sample & 0xff) !== 0)
          ? 32
          : samples.some((sample) => (sample & 0xff00) !== 0)
            ? 24
            : 16
      }),
    )
    return measurement(
      used.map((bits) => `${bits} bits`).join(', '),
      used.every((bits) => `${bits}` === value),
    )
  },
}))

/** Payload of a file's only stream in kbps. */
async function kbpsOf(file: string): Promise<number> {
  const payload = await ffmpeg(['-i', file, '-map', '0:a', '-c', 'copy', '-f', 'data', '-'])
  return payload.length / 125 / ((await audioSamples(file)).length / 48_000)
}

export const audioFileBitrates: readonly Row[] = (['mp3', 'opus', 'eac3'] as const).flatMap((audio_codec) =>
  ([2, 6] as const).flatMap((channels) => {
    const allowed = allowedAudioBitrates(audio_codec, channels) ?? []
    // White noise needs fewer bits than its average rate allows Opus.
    const tolerance = audio_codec === 'opus' ? 0.4 : 0.01
    return allowed.map((kbps): Row => {
      // At most eight profiles per job.
      const half = allowed.filter((each) => each > 256 === kbps > 256)
      return {
        path: 'audioProfiles[].audio_bitrate',
        value: `${kbps}`,
        expected: `${audio_codec}, ${channels} channels: ${kbps} kbps, within ${tolerance * 100} %`,
        job: fileJob(half.map((each) => ({ audio_codec, audio_channels: `${channels}`, audio_bitrate: `${each}` }))),
        source: 'noise',
        output: half.indexOf(kbps),
        quick: kbps === 320,
        measure: async (bench) => {
          const file = await bench.file()
          const { channels: heard } = await probeStream(file, 'audio')
          const found = await kbpsOf(file)
          const measured = `${Math.round(found / 5) * 5} kbps, ${heard} channels`
          return measurement(measured, Math.abs(found / kbps - 1) <= tolerance && heard === channels)
        },
      }
    })
  }),
)

const surrounds = (['opus', 'flac', 'eac3', 'pcm'] as const).map((audio_codec): Row => ({
  path: 'audioProfiles[].audio_channels',
  value: '6',
  expected: `${audio_codec} 5.1: each channel has its own tone (${SURROUND_HZ.join(', ')} Hz)`,
  job: fileJob([
    {
      audio_codec,
      audio_channels: '6',
      audio_bitrate: allowedAudioBitrates(audio_codec, 6) === null ? undefined : '384',
    },
  ]),
  source: 'surround',
  measure: async (bench) => {
    const file = await bench.file()
    const { channels, channel_layout: layout } = await probeStream(file, 'audio')
    const found = await Promise.all(
      SURROUND_HZ.map(async (_hz, channel) => dominantFrequency(await audioSamples(file, 0, channel))),
    )
    const right = found.every((tone, index) => Math.abs(tone / SURROUND_HZ[index]! - 1) < 0.05)
    return measurement(`${layout}: ${found.map(hertz).join(', ')}`, channels === 6 && layout.startsWith('5.1') && right)
  },
}))

export const audioFiles: readonly Row[] = [
  ...codecs,
  ...withVideo,
  ...containers,
  ...sampleRates,
  ...bitDepths,
  ...surrounds,
]
