// In charge of: the loudness that a job requested, measured by libebur128 in the decoded outputs.
// Not in charge of: decoding, which ffmpeg does.
import { ffmpeg, probeFile } from '../../../support/media/media.ts'
import { absolutePath, filesEndingWith, type Finding, type Validator } from '../validator.ts'
import { missingPrograms, PYTHON, scriptPath } from '../installedPrograms.ts'
import { runProgram } from '../../../support/runProgram.ts'

const TARGET = { lufs: -23, tolerance: 0.5, peak: -1 }

export const ebur128: Validator = {
  name: 'ebur128',
  missing: missingPrograms(PYTHON),
  jobs: ['mp4-h264'],
  faults: [
    {
      job: 'mp4-h264',
      what: 'one decibel louder',
      damage: async (output) => {
        const file = absolutePath(output, 'film.mp4')
        await ffmpeg(['-i', file, '-map', '0:a:0', '-af', 'volume=1dB', '-c:a', 'aac', `${file}.louder.mp4`])
        await ffmpeg(['-i', `${file}.louder.mp4`, '-c', 'copy', file])
      },
      finds: 'EBU R 128',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    for (const path of filesEndingWith(output, '.mp4', '.m4a', '.ac3')) {
      const { streams } = await probeFile(absolutePath(output, path))
      for (const [index, { channels }] of streams.filter((one) => one.codec_type === 'audio').entries()) {
        const raw = await ffmpeg([
          '-i',
          absolutePath(output, path),
          '-map',
          `0:a:${index}`,
          '-ar',
          '48000',
          '-f',
          'f32le',
          '-',
        ])
        const { code, stdout, stderr } = await runProgram(PYTHON, [scriptPath('ebur128.py'), String(channels)], {
          input: raw,
        })
        if (code !== 0) throw new Error(stderr)
        const { lufs, true_peak: amplitude } = JSON.parse(stdout) as { lufs: number; true_peak: number }
        const peak = 20 * Math.log10(amplitude)
        reports.push(`${path}, audio ${index}: ${lufs.toFixed(2)} LUFS, true peak ${peak.toFixed(2)} dBTP`)
        if (Math.abs(lufs - TARGET.lufs) > TARGET.tolerance)
          findings.push({ rule: 'EBU R 128: programme loudness', says: `${path}, audio ${index}: ${lufs} LUFS` })
        if (peak > TARGET.peak)
          findings.push({ rule: 'EBU R 128: true peak', says: `${path}, audio ${index}: ${peak} dBTP` })
      }
    }
    return { findings, report: reports.join('\n') }
  },
}
