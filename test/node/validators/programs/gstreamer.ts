// In charge of: GStreamer's own demuxers and adaptive streaming, which play every format to its end.
// Not in charge of: the content of video and audio.
import type { JobName } from '../validatedJobs.ts'
import { rewriteFile, type Finding, type Validator } from '../validator.ts'
import { missingPrograms, scriptPath, SYSTEM_PYTHON } from '../installedPrograms.ts'
import { SOURCE_CLIP } from '../sourceClip.ts'
import { runProgram } from '../../../support/runProgram.ts'

const PATHS: Partial<Record<JobName, readonly string[]>> = {
  'mp4-h264': ['film.mp4'],
  'mp4-hevc': ['film.mp4'],
  'ts-h264-cbr': ['film.ts'],
  'ts-mpeg2-vbr': ['film.ts'],
  'ts-hevc': ['film.ts'],
  'ts-pal-dvb-cbr': ['film.ts'],
  'hls-ts': ['show/master.m3u8'],
  'hls-ts-separate': ['show/master.m3u8'],
  cmaf: ['show/master.m3u8', 'show/manifest.mpd'],
  'cmaf-hevc': ['show/master.m3u8', 'show/manifest.mpd'],
  smooth: ['show/show.ism/Manifest'],
}

interface Played {
  ended: boolean
  said: string[]
  /** Time and duration of each buffer, in seconds. */
  video: [number, number][]
  audio: [number, number][]
}

/**
 * Messages about the media in GStreamer's log: errors of any part, warnings of demuxers, parsers and adaptive
 * streaming.
 */
function complaints(log: string): string[] {
  const found = new Set<string>()
  for (const line of log.split('\n')) {
    const [, level, part = '', rest = ''] =
      /^\S+ +\d+ +0x\w+ +(ERROR|WARN) +(\S+) +[^:]+:\d+:[^:]+:(.*)$/.exec(line) ?? []
    if (level === 'ERROR' || (level === 'WARN' && /demux|parse|mpegts|hls|dash|mss/.test(part)))
      found.add(`${part}: ${rest.replace(/^<[^>]*> */, '')}`)
  }
  return [...found]
}

function wrong({ ended, said, video, audio }: Played): string[] {
  const found = [...said]
  if (!ended) found.push('it did not end')
  const frames = SOURCE_CLIP.rate * SOURCE_CLIP.seconds
  if (video.length !== frames) found.push(`${video.length} frames instead of ${frames}`)
  for (const [at, [time]] of video.entries()) {
    const before = video[at - 1]
    if (before !== undefined && Math.abs(time - before[0] - 1 / SOURCE_CLIP.rate) > 0.002)
      found.push(`frame ${at} comes ${time - before[0]} s after the one before`)
  }
  for (const [at, [time]] of audio.entries()) {
    const before = audio[at - 1]
    if (before !== undefined && Math.abs(time - before[0] - before[1]) > 0.002)
      found.push(`a gap of ${time - before[0] - before[1]} s in the audio at ${time} s`)
  }
  const first = video[0]?.[0] ?? Number.NaN
  const [last = [Number.NaN, 0]] = audio.slice(-1)
  if (!(Math.abs(last[0] + last[1] - first - SOURCE_CLIP.seconds) < 0.05))
    found.push(`audio until ${last[0] + last[1] - first} s`)
  return found
}

export const gstreamer: Validator = {
  name: 'gstreamer',
  missing: missingPrograms(SYSTEM_PYTHON, '/usr/lib/python3/dist-packages/gi', 'gst-launch-1.0'),
  jobs: Object.keys(PATHS) as JobName[],
  faults: [
    {
      job: 'ts-h264-cbr',
      what: 'twenty packets are lost',
      damage: (output) =>
        rewriteFile(output, '.ts', (bytes) => Buffer.concat([bytes.subarray(0, 188 * 500), bytes.subarray(188 * 520)])),
      finds: '',
    },
    {
      job: 'mp4-h264',
      what: 'the file ends too early',
      damage: (output) => rewriteFile(output, 'film.mp4', (bytes) => bytes.subarray(0, Math.floor(bytes.length * 0.8))),
      finds: '',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    for (const path of PATHS[output.job] ?? []) {
      const env = { ...process.env, GST_DEBUG: '2', GST_DEBUG_NO_COLOR: '1' }
      const { code, stdout, stderr } = await runProgram(
        SYSTEM_PYTHON,
        [scriptPath('gstreamerPlayer.py'), output.url(path)],
        {
          env,
        },
      )
      reports.push(`${path}\n${stdout}\n${stderr}`)
      if (code !== 0) findings.push({ rule: 'play', says: `${path}: exit ${code}: ${stderr.slice(-2000)}` })
      else
        for (const says of wrong(JSON.parse(stdout) as Played))
          findings.push({ rule: 'play', says: `${path}: ${says}` })
      for (const says of complaints(stderr)) findings.push({ rule: 'log', says: `${path}: ${says}` })
    }
    return { findings, report: reports.join('\n') }
  },
}
