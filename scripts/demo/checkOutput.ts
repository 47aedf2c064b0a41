// In charge of: checking that an output is what the job asked for, by probing it and decoding every frame.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Engine } from '../../transcoder/ffmpeg/locate.ts'

const run = promisify(execFile)

export interface Expectation {
  height: number
  hasAudio: boolean
  /** null = the source does not state its duration. */
  seconds: number | null
}

interface Probe {
  streams: { codec_type: string; codec_name: string; width?: number; height?: number; duration?: string }[]
  format: { duration?: string }
}

/** @returns a description of the file. @throws Error that says what is wrong with it */
export async function checkOutput(engine: Engine, path: string, expected: Expectation): Promise<string> {
  const fail = (why: string): Error => new Error(`${path} failed the check: ${why}.`)
  const args = ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', `file:${path}`]
  const { stdout } = await run(engine.ffprobe, args).catch((error: { stderr?: string }) => {
    throw fail(`it cannot be probed (${error.stderr?.trim()})`)
  })
  const { streams, format } = JSON.parse(stdout) as Probe
  const video = streams.find((stream) => stream.codec_type === 'video')
  const audio = streams.find((stream) => stream.codec_type === 'audio')
  if (video?.codec_name !== 'h264') throw fail(`its video is ${video?.codec_name ?? 'missing'}, not h264`)
  if (video.height !== expected.height) throw fail(`its height is ${video.height}, not ${expected.height}`)
  if (expected.hasAudio && audio?.codec_name !== 'aac')
    throw fail(`its audio is ${audio?.codec_name ?? 'missing'}, not aac`)
  if (!expected.hasAudio && audio) throw fail('it has audio although the source has none')
  const seconds = Number(video.duration ?? format.duration)
  // A frame at either end and the encoder's priming are acceptable; a missing part is not.
  const tolerance = Math.max(0.5, (expected.seconds ?? 0) * 0.01)
  if (expected.seconds !== null && !(Math.abs(seconds - expected.seconds) <= tolerance))
    throw fail(`it is ${seconds} s long, but the source is ${expected.seconds} s`)
  await decode(engine, path).catch((error: Error) => {
    throw fail(error.message)
  })
  return `${video.width}x${video.height} h264${audio ? ` + ${audio.codec_name}` : ''}, ${seconds.toFixed(2)} s, every frame decodes`
}

async function decode(engine: Engine, path: string): Promise<void> {
  const args = ['-nostdin', '-v', 'error', '-xerror', '-i', `file:${path}`, '-map', '0', '-f', 'null', '-']
  const complaint = await run(engine.ffmpeg, args, { maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stderr }) => stderr.trim(),
    (error: { stderr?: string }) => error.stderr?.trim() || 'ffmpeg failed',
  )
  if (complaint !== '') throw new Error(`it does not decode (${complaint.split('\n').slice(0, 3).join('; ')})`)
}
