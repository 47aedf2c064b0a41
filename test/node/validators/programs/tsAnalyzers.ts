// In charge of: transport streams in analysers: tsreport of tstools, and measurements of ETSI TR 101 290 by a program
// in test/validators that uses go-astits. HLS segments are read as one stream, as a player joins them.
// Not in charge of: T-STD buffers beyond what tsreport checks.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobName } from '../validatedJobs.ts'
import { absolutePath, rewriteFile, type PlantedFault, type Finding, type Validator } from '../validator.ts'
import { goProgram, missingPrograms } from '../installedPrograms.ts'
import type { Output } from '../jobOutputs.ts'
import { runProgram } from '../../../support/runProgram.ts'

const JOBS: readonly JobName[] = [
  'ts-h264-cbr',
  'ts-mpeg2-vbr',
  'ts-hevc',
  'ts-pal-dvb-cbr',
  'hls-ts',
  'hls-ts-separate',
]
const isSegmented = (output: Output): boolean => output.job.startsWith('hls')

/** One file per rendition, by name. */
export async function transportStreams(output: Output): Promise<[string, string][]> {
  const paths = output.files.filter((path) => path.endsWith('.ts') || path.endsWith('.aac'))
  if (!isSegmented(output)) return paths.map((path) => [path, absolutePath(output, path)])
  const renditions = Map.groupBy(paths, (path) => path.split('/')[1]!)
  const made: [string, string][] = []
  for (const [name, segments] of renditions) {
    const file = join(output.directory, `${name}-joined.ts`)
    await writeFile(
      file,
      Buffer.concat(await Promise.all(segments.map((path) => readFile(absolutePath(output, path))))),
    )
    made.push([name, file])
  }
  return made
}

/** Removes packets 500 to 519 of a file, or of the middle of a segment. */
const lostPackets: PlantedFault = {
  job: 'ts-h264-cbr',
  what: 'twenty packets are lost',
  damage: (output) =>
    rewriteFile(output, '.ts', (bytes) => Buffer.concat([bytes.subarray(0, 188 * 500), bytes.subarray(188 * 520)])),
  finds: 'ontinuity',
}

export const tsreport: Validator = {
  name: 'tsreport',
  missing: missingPrograms('tsreport'),
  jobs: JOBS,
  faults: [lostPackets],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    for (const [name, file] of await transportStreams(output)) {
      const { code, stdout, stderr } = await runProgram('tsreport', ['-buffering', file])
      const report = stdout + stderr
      reports.push(`${name}\n${report}`)
      if (code !== 0) findings.push({ rule: 'readable', says: `${name}: exit ${code}` })
      let limit = 0
      for (const line of report.split('\n')) {
        // H.264 and HEVC may wait longer: 2.14.3.1 and 2.17.2.
        if (/^Stream \d+:/.test(line)) limit = /HEVC|14496-10/.test(line) ? 900_000 : 90_000
        // Their errors and warnings.
        const remark = /^\s*(?:###|!!!)\s*(.*)/.exec(line)?.[1]
        if (remark !== undefined) findings.push({ rule: 'remark', says: `${name}: ${remark}` })
        const longest = Number(/Maximum difference was\s+(-?\d+)t/.exec(line)?.[1] ?? 0)
        if (longest > limit)
          findings.push({ rule: 'ISO/IEC 13818-1 2.4.2.7: delay in buffers', says: `${name}: ${longest} ticks` })
      }
    }
    return { findings, report: reports.join('\n') }
  },
}

interface Measured {
  broken: string[]
  continuity: number
  errors: number
  pat_ms: number
  pmt_ms: number
  pcr_ms: number
  pcr_ns: number
  pts_ms: number
  sdt: boolean
  sdt_ms: number
  missing: number[]
  unlisted: number[]
}

function breaches(measured: Measured, output: Output): Finding[] {
  const found: Finding[] = measured.broken.map((says) => ({ rule: 'TR 101 290 2.2: CRC_error, syntax', says }))
  const most = (rule: string, value: number, limit: number): void => {
    if (value > limit) found.push({ rule: `TR 101 290 ${rule}`, says: `${value}, at most ${limit}` })
  }
  most('1.4: Continuity_count_error', measured.continuity, 0)
  most('2.1: Transport_error', measured.errors, 0)
  most('1.6: PID_error', measured.missing.length, 0)
  most('3.4: Unreferenced_PID', measured.unlisted.length, 0)
  // ETSI TS 101 154, 4.1.5.3, is stricter than ISO/IEC 13818-1.
  most('2.3a: PCR_repetition_error, milliseconds', measured.pcr_ms, isSegmented(output) ? 100 : 40)
  most('2.5: PTS_error, milliseconds', measured.pts_ms, 700)
  // ETSI TS 101 154 recommends 100 ms, TR 101 290 requires 500 ms. Segments have them at key frames and every 0.4 s.
  const tablesMs = isSegmented(output) ? 500 : 100
  most('1.3a: PAT_error_2, milliseconds', measured.pat_ms, tablesMs)
  most('1.5a: PMT_error_2, milliseconds', measured.pmt_ms, tablesMs)
  // RFC 8216, 3.2, requires no other table.
  if (isSegmented(output)) return found
  most('3.5: SDT_error, milliseconds', measured.sdt ? measured.sdt_ms : Infinity, 2000)
  if (output.job.includes('cbr')) most('2.4: PCR_accuracy_error, nanoseconds', measured.pcr_ns, 500)
  return found
}

export const tr101290: Validator = {
  name: 'transport',
  missing: missingPrograms(goProgram('transport')),
  jobs: JOBS,
  faults: [
    lostPackets,
    {
      job: 'ts-h264-cbr',
      what: 'a program map table has a wrong CRC',
      damage: (output) =>
        rewriteFile(output, '.ts', (bytes) => {
          // The first packet of the table: PID 0x1000; the last byte of its section belongs to its CRC.
          for (let at = 0; at < bytes.length; at += 188) {
            if ((bytes.readUInt16BE(at + 1) & 0x1fff) !== 0x1000) continue
            const length = bytes.readUInt16BE(at + 6) & 0xfff
            bytes.writeUInt8(bytes.readUInt8(at + 7 + length) ^ 1, at + 7 + length)
            return bytes
          }
          throw new Error('no program map')
        }),
      finds: 'CRC_error',
    },
    {
      job: 'ts-h264-cbr',
      what: 'clock references are 2 µs off every other time',
      damage: (output) => rewriteFile(output, '.ts', shaken),
      finds: 'PCR_accuracy_error',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    for (const [name, file] of await transportStreams(output)) {
      const { code, stdout, stderr } = await runProgram(goProgram('transport'), [file])
      reports.push(`${name}\n${stdout}${stderr}`)
      if (code !== 0) findings.push({ rule: 'TR 101 290 2.2: CRC_error, syntax', says: `${name}: ${stderr}` })
      else
        for (const { rule, says } of breaches(JSON.parse(stdout) as Measured, output))
          findings.push({ rule, says: `${name}: ${says}` })
    }
    return { findings, report: reports.join('\n') }
  },
}

/** Adds 54 periods of 27 MHz to the extension of every other clock reference whose range allows it. */
function shaken(bytes: Buffer): Buffer {
  let count = 0
  for (let at = 0; at + 188 <= bytes.length; at += 188) {
    const hasClock =
      (bytes.readUInt8(at + 3) & 0x20) !== 0 && bytes.readUInt8(at + 4) >= 7 && (bytes.readUInt8(at + 5) & 0x10) !== 0
    if (!hasClock) continue
    const extension = bytes.readUInt16BE(at + 10) & 0x1ff
    if (extension > 240 || ++count % 2 === 0) continue
    bytes.writeUInt16BE((bytes.readUInt16BE(at + 10) & ~0x1ff) | (extension + 54), at + 10)
  }
  if (count === 0) throw new Error('no clock references')
  return bytes
}
