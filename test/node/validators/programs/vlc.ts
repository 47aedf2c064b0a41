// In charge of: VLC's own demuxers, which play every format to its end without a window.
// Not in charge of: the content of video and audio.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JOB_TIMEOUT_MS } from '../../../support/timeouts.ts'
import { waitFor } from '../../../support/testClient.ts'
import type { JobName } from '../validatedJobs.ts'
import { rewriteFile, type Finding, type Validator } from '../validator.ts'
import { missingPrograms } from '../installedPrograms.ts'
import { SOURCE_CLIP } from '../sourceClip.ts'

const PATHS: Partial<Record<JobName, readonly string[]>> = {
  'mp4-h264': ['film.mp4'],
  'mp4-hevc': ['film.mp4'],
  'ts-h264-cbr': ['film.ts'],
  'ts-mpeg2-vbr': ['film.ts'],
  'ts-hevc': ['film.ts'],
  'ts-pal-dvb-cbr': ['film.ts'],
  'hls-ts': ['show/master.m3u8'],
  cmaf: ['show/master.m3u8', 'show/manifest.mpd'],
  'cmaf-hevc': ['show/master.m3u8'],
}

/** It does not run as root. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

interface Counted {
  log: string
  /** From its statistics, by name. */
  counts: Record<string, number>
}

async function play(address: string): Promise<Counted> {
  const home = await mkdtemp(join(tmpdir(), 'splicepoint-vlc-'))
  await chmod(home, 0o777)
  const plain = '-vv -I rc --rc-fake-tty --no-dbus --no-color --no-interact --no-media-library --no-auto-preparse'
  // Frames are dropped at the speed of their clock; audio is counted by its decoder. It pauses at the last frame, where
  // the statistics are read.
  const outputs = '--vout dummy --aout dummy --no-spdif --play-and-pause --no-drop-late-frames --no-skip-frames'
  // On a busy machine its decoder may lose a frame where the size changes.
  const steady = '--adaptive-logic=lowest'
  const child = spawn('vlc', [...plain.split(' '), ...outputs.split(' '), steady, address], {
    env: { PATH: process.env['PATH'], HOME: home, LANG: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...NOBODY,
  })
  const closed = new Promise((done) => child.once('close', done))
  let log = ''
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stdin.on('error', () => undefined)
  try {
    await waitFor(
      `VLC to play ${address}`,
      () => {
        child.stdin.write('status\n')
        return (
          child.exitCode !== null ||
          /\( state (paused|stopped) \)/.test(printed.slice(printed.lastIndexOf('( new input')))
        )
      },
      JOB_TIMEOUT_MS,
    )
    child.stdin.write('stats\n')
    await waitFor('its statistics', () => child.exitCode !== null || printed.includes('end of statistical info'))
    child.stdin.write('shutdown\n')
    await closed
  } finally {
    child.kill('SIGKILL')
    await closed
    await rm(home, { recursive: true, force: true, maxRetries: 3 })
  }
  const counts = Object.fromEntries(
    [...printed.matchAll(/^\| ([a-z ]+?)\s*:\s*(\d+)\s*$/gm)].map(([, name, count]) => [name!, Number(count)]),
  )
  return { log: `${log}\n${printed}`, counts }
}

/** Errors of demuxers and decoders; not those caused by a machine without a screen, without audio, or busy. */
const complaints = (log: string): string[] => {
  const ours = log.split('\n').flatMap((line) => {
    const [, part = '', what = ''] =
      /^\[\w+\] (\S+ (?:demux|packetizer|decoder|stream)\S*|libdvbpsi) error:? (?!failed to create audio output|buffer deadlock prevented)(.*)/.exec(
        line,
      ) ?? []
    const decoder = /^\[(?:h264|hevc|mpeg2video|aac|ac3|mp2)[^\]]*\] (?!Reinit)(.*)/.exec(line)?.[1]
    return [...(what === '' ? [] : [`${part}: ${what}`]), ...(decoder === undefined ? [] : [decoder])]
  })
  return [...new Set(ours)]
}

export const vlc: Validator = {
  name: 'vlc',
  missing: missingPrograms('vlc'),
  jobs: Object.keys(PATHS) as JobName[],
  faults: [
    {
      job: 'ts-h264-cbr',
      what: 'twenty packets are lost',
      damage: (output) =>
        rewriteFile(output, '.ts', (bytes) => Buffer.concat([bytes.subarray(0, 188 * 500), bytes.subarray(188 * 520)])),
      finds: 'discontinuities',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    for (const path of PATHS[output.job] ?? []) {
      const { log, counts } = await play(output.url(path))
      reports.push(`${path}\n${JSON.stringify(counts)}\n${log}`)
      const says = (rule: string, sentence: unknown): void =>
        void findings.push({ rule, says: `${path}: ${String(sentence)}` })
      if (counts['demux corrupted'] !== 0) says('demux corrupted', counts['demux corrupted'])
      // In MP4 it counts the first block of each track.
      if (path.endsWith('.ts') && counts['discontinuities'] !== 0) says('discontinuities', counts['discontinuities'])
      if (!((counts['video decoded'] ?? 0) >= SOURCE_CLIP.rate * SOURCE_CLIP.seconds))
        says('video decoded', counts['video decoded'])
      if (!((counts['audio decoded'] ?? 0) > 0)) says('audio decoded', counts['audio decoded'])
      for (const sentence of complaints(log)) says('log', sentence)
    }
    return { findings, report: reports.join('\n') }
  },
}
