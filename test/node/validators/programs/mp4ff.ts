// In charge of: ISO base media files in mp4ff's programs: every box is known, every NAL unit complete, parameter sets
// can be parsed; and the MPD with its segments, by a program in test/validators that uses mp4ff and dash-mpd.
// Not in charge of: the coded bits of codecs.
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JobName } from '../validatedJobs.ts'
import { absolutePath, rewriteFile, filesEndingWith, replaceText, type Finding, type Validator } from '../validator.ts'
import { goProgram, missingPrograms } from '../installedPrograms.ts'
import type { Output } from '../jobOutputs.ts'
import { SOURCE_CLIP } from '../sourceClip.ts'
import { runProgram } from '../../../support/runProgram.ts'

/** Whole files; for segmented output one file per rendition: its init segment with its segments. */
export async function mp4Files(output: Output): Promise<[string, string][]> {
  const whole = filesEndingWith(output, '.mp4', '.m4a').filter((path) => !path.endsWith('/init.mp4'))
  const made = whole.map((path): [string, string] => [path, absolutePath(output, path)])
  for (const init of filesEndingWith(output, '/init.mp4')) {
    const segments = output.files.filter((path) => path.startsWith(dirname(init)) && path.endsWith('.m4s'))
    const name = init.split('/')[1]!
    const file = join(output.directory, `${name}-joined.mp4`)
    await writeFile(
      file,
      Buffer.concat(await Promise.all([init, ...segments].map((path) => readFile(absolutePath(output, path))))),
    )
    made.push([name, file])
  }
  return made
}

const isAudio = (name: string): boolean => /audio/.test(name)

async function readMovie(name: string, file: string, hevc: boolean): Promise<{ findings: Finding[]; report: string }> {
  const findings: Finding[] = []
  const says = (rule: string, sentence: string): void => void findings.push({ rule, says: `${name}: ${sentence}` })
  const info = await runProgram(goProgram('mp4ff-info'), [file])
  const report = [info.stdout, info.stderr]
  if (info.code !== 0) says('mp4ff-info: ISO/IEC 14496-12', info.stderr.trim())
  let box = ''
  for (const line of info.stdout.split('\n')) {
    box = /^\s*\[(.{4})\]/.exec(line)?.[1] ?? box
    if (line.includes('not implemented or unknown box')) says('unknown box', box)
  }
  if (isAudio(name)) return { findings, report: report.join('\n') }
  const codec = hevc ? 'hevc' : 'avc'
  const units = await runProgram(goProgram('mp4ff-nallister'), ['-c', codec, file])
  report.push(units.stdout, units.stderr)
  if (units.code !== 0) says('mp4ff-nallister: ISO/IEC 14496-15 5.3.2', units.stderr.trim())
  const samples = units.stdout.split('\n').filter((line) => line.startsWith('Sample '))
  if (samples.length !== SOURCE_CLIP.rate * SOURCE_CLIP.seconds) says('every frame', `${samples.length} samples`)
  if (!/IDR_/.test(samples[0] ?? ''))
    says('ISO/IEC 14496-15 5.4.3.1: the first sample is an IDR frame', samples[0] ?? '')
  for (const sample of samples) {
    const sizes = [...sample.matchAll(/\((\d+)B\)/g)].map(([, size]) => Number(size))
    const [total = 0, ...parts] = sizes
    // Four bytes of length before each unit.
    const held = parts.reduce((sum, size) => sum + size + 4, 0)
    if (total !== held || parts.length === 0) says('ISO/IEC 14496-15 5.3.2: lengths of NAL units', sample)
  }
  const sets = await runProgram(goProgram('mp4ff-pslister'), ['-c', codec, '-i', file])
  report.push(sets.stdout, sets.stderr)
  if (sets.code !== 0 || !/SPS/.test(sets.stdout)) says('mp4ff-pslister: parameter sets', sets.stderr.trim())
  return { findings, report: report.join('\n') }
}

export const mp4ff: Validator = {
  name: 'mp4ff',
  missing: missingPrograms(goProgram('mp4ff-info'), goProgram('mp4ff-nallister'), goProgram('mp4ff-pslister')),
  jobs: ['mp4-h264', 'mp4-hevc', 'cmaf', 'cmaf-hevc'],
  faults: [
    {
      job: 'mp4-h264',
      what: 'the size of a box is wrong',
      damage: (output) =>
        rewriteFile(output, 'film.mp4', (bytes) => {
          const at = bytes.indexOf('stsd') - 4
          bytes.writeUInt32BE(bytes.readUInt32BE(at) + 4, at)
          return bytes
        }),
      finds: 'mp4ff-info',
    },
    {
      job: 'cmaf',
      what: 'the length of a NAL unit is wrong',
      damage: (output) =>
        rewriteFile(output, /high\/.*\/00002\.m4s$/, (bytes) => {
          const at = bytes.indexOf('mdat') + 4
          bytes.writeUInt32BE(bytes.readUInt32BE(at) - 3, at)
          return bytes
        }),
      finds: 'every frame',
    },
  ],
  async validate(output) {
    const validation = []
    for (const [name, file] of await mp4Files(output))
      validation.push(await readMovie(name, file, output.job.includes('hevc')))
    return {
      findings: validation.flatMap(({ findings }) => findings),
      report: validation.map(({ report }) => report).join('\n'),
    }
  },
}

const DASH: readonly JobName[] = ['cmaf', 'cmaf-hevc']

export const dashMpd: Validator = {
  name: 'dash',
  missing: missingPrograms(goProgram('dash')),
  jobs: DASH,
  faults: [
    {
      job: 'cmaf',
      what: 'a segment is longer in the manifest than in truth',
      damage: (output) => rewriteFile(output, 'manifest.mpd', replaceText(/(<S d=")(\d+)/, '$19999')),
      finds: 'segment timeline',
    },
    {
      job: 'cmaf',
      what: 'the bandwidth is a tenth of the true one',
      damage: (output) => rewriteFile(output, 'manifest.mpd', replaceText(/(bandwidth="\d+)\d"/, '$1"')),
      finds: 'bandwidth',
    },
    {
      job: 'cmaf',
      what: 'one rendition of a set has another colour',
      damage: (output) =>
        rewriteFile(output, /low\/.*\/init\.mp4$/, (bytes) => {
          bytes.writeUInt16BE(9, bytes.indexOf('nclx') + 8)
          return bytes
        }),
      finds: 'one colour',
    },
    {
      job: 'cmaf-hevc',
      what: 'a segment is not there',
      damage: async (output) => {
        const [first] = filesEndingWith(output, '/00001.m4s')
        await copyFile(absolutePath(output, 'show/manifest.mpd'), absolutePath(output, first!))
      },
      finds: 'movie fragments',
    },
  ],
  async validate(output) {
    const { code, stdout, stderr } = await runProgram(goProgram('dash'), [absolutePath(output, 'show/manifest.mpd')])
    if (code !== 0) return { findings: [{ rule: 'readable', says: stderr }], report: stderr }
    return { findings: JSON.parse(stdout) as Finding[], report: stdout }
  },
}
