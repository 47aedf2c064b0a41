// In charge of: outputs in MediaInfo: its conformance remarks, and one MediaConch policy for each job with what the job
// requested: containers, codecs, sizes, rates, scan, colour, channels.
// Not in charge of: the content of video and audio.
import { join } from 'node:path'
import type { JobName } from '../validatedJobs.ts'
import { absolutePath, rewriteFile, filesEndingWith, type Finding, type Validator } from '../validator.ts'
import { VALIDATORS_DIR, missingPrograms, PYTHON, scriptPath } from '../installedPrograms.ts'
import { mp4Files } from './mp4ff.ts'
import type { Output } from '../jobOutputs.ts'
import { transportStreams } from './tsAnalyzers.ts'
import { runProgram } from '../../../support/runProgram.ts'

const POLICIES: readonly JobName[] = [
  'mp4-h264',
  'mp4-hevc',
  'ts-h264-cbr',
  'ts-mpeg2-vbr',
  'ts-hevc',
  'ts-pal-dvb-cbr',
]

async function filesOf(output: Output): Promise<[string, string][]> {
  const others = filesEndingWith(output, '.ac3').map((path): [string, string] => [path, absolutePath(output, path)])
  return [...(await mp4Files(output)), ...(await transportStreams(output)), ...others]
}

/** Failed rules of a text report: name, expected and actual value. */
const failed = (report: string): string[] =>
  [...report.matchAll(/Name: (.*)\n\s*Xpath: .*\n\s*Outcome: fail\n\s*Requested: (.*)\n\s*Actual: (.*)/g)].map(
    ([, name, wanted, actual]) => `${name}: ${actual} instead of ${wanted}`,
  )

export const mediaconch: Validator = {
  name: 'mediaconch',
  missing: missingPrograms('mediaconch'),
  jobs: POLICIES,
  faults: [
    {
      job: 'mp4-h264',
      what: 'the colour says BT.2020',
      damage: (output) =>
        rewriteFile(output, 'film.mp4', (bytes) => {
          const at = bytes.indexOf('nclx')
          bytes.writeUInt16BE(9, at + 4)
          bytes.writeUInt16BE(9, at + 8)
          return bytes
        }),
      finds: 'policy',
    },
    {
      job: 'ts-h264-cbr',
      what: 'a stream is missing in the program map',
      damage: (output) =>
        rewriteFile(output, '.ts', (bytes) => {
          // AC-3 (0x81) becomes an unknown type.
          for (let at = 0; at < bytes.length; at += 188) {
            if ((bytes.readUInt16BE(at + 1) & 0x1fff) !== 0x1000) continue
            const type = bytes.indexOf(Buffer.from([0x81, 0xe1, 0x01]), at)
            if (type > 0 && type < at + 188) bytes.writeUInt8(0xc1, type)
          }
          return bytes
        }),
      finds: 'policy',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    // It keeps a locked database in the home directory.
    const env = { ...process.env, HOME: output.directory }
    const policy = join(VALIDATORS_DIR, 'policies', `${output.job}.xml`)
    for (const path of filesEndingWith(output, 'film.mp4', 'film.ts')) {
      const { code, stdout, stderr } = await runProgram(
        'mediaconch',
        ['-p', policy, '-ft', absolutePath(output, path)],
        { env },
      )
      reports.push(stdout, stderr)
      if (code !== 0 || !/^ {2}Outcome: pass$/m.test(stdout))
        findings.push({ rule: 'policy', says: `${path}: ${failed(stdout).join('; ') || stdout + stderr}` })
    }
    return { findings, report: reports.join('\n') }
  },
}

type Track = Record<string, unknown>

/** Remarks of libmediainfo: tracks whose names start with Conformance, with the texts below them. */
function remarks(tracks: readonly Track[]): string[] {
  return tracks.flatMap((track) =>
    Object.entries(track)
      .filter(([name]) => /^conformance(errors|warnings)/i.test(name))
      .map(([name, value]) => `${String(track['track_type'])}: ${name}: ${String(value)}`),
  )
}

export const mediainfo: Validator = {
  name: 'mediainfo',
  missing: missingPrograms(PYTHON),
  jobs: [...POLICIES, 'hls-ts', 'hls-ts-separate', 'cmaf', 'cmaf-hevc'],
  faults: [
    {
      job: 'mp4-h264',
      what: 'the file ends too early',
      damage: (output) => rewriteFile(output, 'film.mp4', (bytes) => bytes.subarray(0, Math.floor(bytes.length * 0.8))),
      finds: 'truncated',
    },
    {
      job: 'mp4-h264',
      what: 'the file is no film',
      damage: (output) => rewriteFile(output, 'film.mp4', (bytes) => Buffer.alloc(bytes.length, 'x')),
      finds: 'no tracks',
    },
  ],
  async validate(output) {
    const files = await filesOf(output)
    const { code, stdout, stderr } = await runProgram(PYTHON, [
      scriptPath('mediainfo.py'),
      ...files.map(([, file]) => file),
    ])
    if (code !== 0) throw new Error(stderr)
    const all = JSON.parse(stdout) as Track[][]
    const findings = all.flatMap((tracks, index): Finding[] => {
      const [name] = files[index]!
      const ofFile = remarks(tracks).map((says) => ({ rule: 'conformance', says: `${name}: ${says}` }))
      const media = tracks.filter((track) => track['track_type'] === 'Video' || track['track_type'] === 'Audio')
      if (media.length === 0) ofFile.push({ rule: 'no tracks', says: name })
      if (tracks.some((track) => track['istruncated'] === 'Yes' || track['is_truncated'] === 'Yes'))
        ofFile.push({ rule: 'truncated', says: name })
      return ofFile
    })
    return { findings, report: JSON.stringify(all, null, 1) }
  },
}
