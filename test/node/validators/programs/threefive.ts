// In charge of: cues as threefive reads them: in transport streams, in HLS date ranges and in DASH events.
// Not in charge of: where segments end.
import { readFile } from 'node:fs/promises'
import { absolutePath, rewriteFile, filesEndingWith, replaceText, type Finding, type Validator } from '../validator.ts'
import { missingPrograms, PYTHON, scriptPath } from '../installedPrograms.ts'
import { readPackets } from '../../../support/media/media.ts'
import { SOURCE_CLIP } from '../sourceClip.ts'
import { transportStreams } from './tsAnalyzers.ts'
import { runProgram } from '../../../support/runProgram.ts'

interface Cue {
  command: string
  event: number | null
  out: boolean | null
  pts: number | null
  adjustment: number
  duration: number | null
  arrives: number | null
  whole: boolean
}
interface Heard {
  cues: Cue[]
  said: string
}

const RULE = 'SCTE 35'

/** @param origin presentation time of the first frame, on the clock of the cues */
function wrong({ cues, said }: Heard, where: string, origin: number): Finding[] {
  const says: string[] = said === '' ? [] : [said]
  if (cues.length !== 1) says.push(`${cues.length} cues instead of one`)
  for (const cue of cues) {
    if (!cue.whole) says.push('9.6.1: its CRC is wrong')
    if (cue.command !== 'Splice Insert' || cue.event !== SOURCE_CLIP.eventId || cue.out !== true)
      says.push(`9.7.3: ${JSON.stringify(cue)}`)
    const at = (cue.pts ?? Number.NaN) + cue.adjustment - origin
    if (!(Math.abs(at - SOURCE_CLIP.splice) < 0.5 / SOURCE_CLIP.rate)) says.push(`9.6.1: it splices at ${at} s`)
    if (!(Math.abs((cue.duration ?? Number.NaN) - (SOURCE_CLIP.back - SOURCE_CLIP.splice)) < 0.001))
      says.push(`9.8.1: a break of ${cue.duration} s`)
    // In a transport stream it must arrive before its splice time.
    if (cue.arrives !== null && cue.arrives - origin > SOURCE_CLIP.splice) says.push('9.6.1: it comes after its splice')
  }
  return says.map((sentence) => ({ rule: RULE, says: `${where}: ${sentence}` }))
}

const ask = async (kind: 'ts' | 'text', values: readonly string[]): Promise<{ heard: Heard[]; report: string }> => {
  const { code, stdout, stderr } = await runProgram(PYTHON, [scriptPath('scte35Cues.py'), kind, ...values])
  if (code !== 0) throw new Error(stderr)
  return { heard: JSON.parse(stdout) as Heard[], report: stdout }
}

export const threefive: Validator = {
  name: 'threefive',
  missing: missingPrograms(PYTHON),
  jobs: ['ts-h264-cbr', 'ts-mpeg2-vbr', 'ts-hevc', 'hls-ts', 'cmaf', 'cmaf-hevc'],
  faults: [
    {
      job: 'ts-h264-cbr',
      what: 'a bit of the cue is wrong',
      damage: (output) =>
        rewriteFile(output, '.ts', (bytes) => {
          for (let at = 0; at < bytes.length; at += 188) {
            if ((bytes.readUInt16BE(at + 1) & 0x1fff) !== 600) continue
            const section = bytes.indexOf(0xfc, at + 4)
            // A byte of splice_event_id.
            bytes.writeUInt8(bytes.readUInt8(section + 17) ^ 4, section + 17)
            return bytes
          }
          throw new Error('no cue')
        }),
      finds: RULE,
    },
    {
      job: 'cmaf',
      what: 'the date range says another time',
      damage: (output) =>
        rewriteFile(output, 'high/playlist.m3u8', replaceText(/(START-DATE="[^"]*:)03\.040Z/, '$104.040Z')),
      finds: RULE,
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    const streams = (await transportStreams(output)).filter(([name]) => !name.startsWith('audio'))
    if (streams.length > 0) {
      const { heard, report } = await ask(
        'ts',
        streams.map(([, file]) => file),
      )
      reports.push(report)
      for (const [index, [name, file]] of streams.entries()) {
        const times = (await readPackets(file)).map(({ pts_time }) => Number(pts_time))
        findings.push(...wrong(heard[index]!, name, Math.min(...times)))
      }
    }
    // Cue times are media times: 10 s is the first frame of transport streams, 0 that of CMAF (docs/segmented.md).
    const origin = output.job === 'hls-ts' ? 10 : 0
    const texts: { where: string; cue: string; splice: number }[] = []
    for (const path of filesEndingWith(output, 'high/playlist.m3u8', 'low/playlist.m3u8')) {
      const playlist = (await readFile(absolutePath(output, path))).toString()
      const range = /#EXT-X-DATERANGE:.*START-DATE="([^"]+)".*SCTE35-OUT=(0x[0-9A-F]+)/.exec(playlist)
      if (range === null) findings.push({ rule: RULE, says: `${path}: no date range` })
      else texts.push({ where: path, cue: range[2]!, splice: Date.parse(range[1]!) / 1000 })
    }
    for (const path of filesEndingWith(output, 'manifest.mpd')) {
      const manifest = (await readFile(absolutePath(output, path))).toString()
      const event = /<Event presentationTime="(\d+)".*?<Binary>([^<]+)</s.exec(manifest)
      if (event === null) findings.push({ rule: RULE, says: `${path}: no event` })
      else texts.push({ where: path, cue: event[2]!, splice: Number(event[1]) / 90_000 })
    }
    if (texts.length > 0) {
      const { heard, report } = await ask(
        'text',
        texts.map(({ cue }) => cue),
      )
      reports.push(report)
      for (const [index, { where, splice }] of texts.entries()) {
        findings.push(...wrong(heard[index]!, where, origin))
        if (Math.abs(splice - SOURCE_CLIP.splice) > 0.5 / SOURCE_CLIP.rate)
          findings.push({ rule: RULE, says: `${where}: the manifest has it at ${splice} s` })
      }
    }
    return { findings, report: reports.join('\n') }
  },
}
