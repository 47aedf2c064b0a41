// Audio files as programs read them that share no code with ffmpeg: length to the sample, samples, no complaint.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test, type TestContext } from 'vitest'
import type { AudioContainer } from '#contract/codecs.ts'
import { readFile } from 'node:fs/promises'
import { encodeJob } from '../../../../support/media/encodeJob.ts'
import { ffmpeg, lavfi, tempDirectory } from '../../../../support/media/media.ts'
import { skipTest } from '../../../../support/requirement.ts'
import { audioProfile, jobSpec } from '../../../../support/transcoder/jobSpecs.ts'

const SAMPLES = 149_925
const run = promisify(execFile)

/** Runs a program of a Debian package; the test is skipped without it. */
async function use(context: TestContext, debianPackage: string, program: string, args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, args)
    return stdout + stderr
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return skipTest(context, `${program} is not installed (apt-get install ${debianPackage})`)
  }
}

/** The file of a tone in the left channel and another in the right, and the same as PCM. */
async function made(
  directory: { path: string; file: (name: string) => string },
  container: AudioContainer,
  channels: 2 | 6 = 2,
): Promise<{ file: string; source: string }> {
  const source = directory.file('source.wav')
  const layout = channels === 2 ? 'stereo' : '5.1'
  const tones = [440, 660, 900, 60, 1300, 1700].slice(0, channels).map((hertz) => `0.3*sin(2*PI*${hertz}*t)`)
  await ffmpeg([...lavfi(`aevalsrc='${tones.join('|')}':s=48000:c=${layout},atrim=end_sample=${SAMPLES}`), source])
  const codec = { mp3: 'mp3', ogg: 'opus', flac: 'flac', wav: 'pcm' } as const
  const chosen = codec[container as keyof typeof codec]
  const bitDepth = chosen === 'flac' || chosen === 'pcm' ? 16 : null
  const audio = [audioProfile({ codec: chosen, container, channels, bitDepth, bitrateKbps: 192 })]
  const { outputs } = await encodeJob(jobSpec({ audioDirectory: '', video: [], audio }), source, directory.path)
  return { file: outputs[0], source }
}

/** The `data` chunk of a WAV file. */
async function samplesOf(wav: string): Promise<Buffer> {
  const bytes = await readFile(wav)
  const at = bytes.indexOf('data')
  return bytes.subarray(at + 8)
}

test('flac: its own decoder finds every sample and the checksum right', async (context) => {
  await using tempDir = await tempDirectory()
  const { file, source } = await made(tempDir, 'flac')
  expect(await use(context, 'flac', 'flac', ['-t', '--totally-silent', file])).toBe('')
  const decoded = tempDir.file('decoded.wav')
  await use(context, 'flac', 'flac', ['-d', '--totally-silent', '-o', decoded, file])
  expect((await samplesOf(decoded)).equals(await samplesOf(source))).toBe(true)
})

test.for([2, 6] as const)('opus of %i channels: its own decoder gives the exact length', async (channels, context) => {
  await using tempDir = await tempDirectory()
  const { file } = await made(tempDir, 'ogg', channels)
  const info = await use(context, 'opus-tools', 'opusinfo', [file])
  expect(info).toMatch(new RegExp(`Channels: ${channels}\\b`))
  expect(info).not.toMatch(/WARNING|error/i)
  const decoded = tempDir.file('decoded.wav')
  await use(context, 'opus-tools', 'opusdec', ['--quiet', '--no-dither', '--rate', '48000', file, decoded])
  expect((await samplesOf(decoded)).length / 2 / channels).toBe(SAMPLES)
})

test('mp3: mpg123 removes the delay and the padding that the header states', async (context) => {
  await using tempDir = await tempDirectory()
  const { file } = await made(tempDir, 'mp3')
  const decoded = tempDir.file('decoded.wav')
  await use(context, 'mpg123', 'mpg123', ['--quiet', '-w', decoded, file])
  expect((await samplesOf(decoded)).length / 4).toBe(SAMPLES)
})

test('wav: Python reads it', async (context) => {
  await using tempDir = await tempDirectory()
  const { file } = await made(tempDir, 'wav')
  const program = 'import sys, wave; print(*wave.open(sys.argv[1]).getparams()[:4])'
  expect((await use(context, 'python3', 'python3', ['-c', program, file])).trim()).toBe(`2 2 48000 ${SAMPLES}`)
})
