// In charge of: CEA-608 captions in the video, as the Streaming Video Technology Alliance's decoder reads them.
// Not in charge of: WebVTT files, which the players read.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ffmpeg, readPackets } from '../../../support/media/media.ts'
import { mp4Files } from './mp4ff.ts'
import { rewriteFile, type Finding, type Validator } from '../validator.ts'
import { VALIDATORS_DIR, missingPrograms } from '../installedPrograms.ts'
import { SOURCE_CLIP } from '../sourceClip.ts'
import { transportStreams } from './tsAnalyzers.ts'

const MODULE = join(VALIDATORS_DIR, 'node_modules/@svta/cml-608/dist/index.js')

interface Screen {
  getDisplayText(): string
}
interface Decoder {
  addData(time: number, bytes: number[]): void
}
interface Module {
  Cta608Parser: new (
    field: 1 | 2,
    first: { newCue(start: number, end: number, screen: Screen): void },
    second: null,
  ) => Decoder
  extractCta608DataFromSample: (view: DataView, at: number, size: number) => number[][]
}

/**
 * Frames after the first one at which the caption appears: its commands come one pair per frame
 * (test/support/captions/captionedClip.ts).
 */
const SHOWN = 2 + Math.ceil(SOURCE_CLIP.caption.length / 2)

interface Caption {
  start: number
  text: string
}

async function captionsOf(file: string): Promise<Caption[]> {
  const { Cta608Parser, extractCta608DataFromSample } = (await import(pathToFileURL(MODULE).href)) as Module
  const bytes = await readFile(file)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const samples = (await readPackets(file)).toSorted((a, b) => Number(a.pts_time) - Number(b.pts_time))
  const found: Caption[] = []
  const decoder = new Cta608Parser(
    1,
    { newCue: (start, _end, screen) => found.push({ start, text: screen.getDisplayText().trim() }) },
    null,
  )
  const origin = Number(samples[0]?.pts_time)
  for (const { pts_time, pos, size } of samples) {
    const [first = []] = extractCta608DataFromSample(view, Number(pos), Number(size))
    if (first.length > 0) decoder.addData(Number(pts_time) - origin, first)
  }
  return found
}

export const cml608: Validator = {
  name: 'cml-608',
  missing: missingPrograms(MODULE),
  jobs: ['mp4-h264', 'cmaf', 'ts-h264-cbr', 'hls-ts'],
  faults: [
    {
      job: 'mp4-h264',
      what: 'a letter of the caption is another one',
      damage: (output) =>
        rewriteFile(output, 'film.mp4', (bytes) => {
          // The pair with the letters "SP": 0xd3 0xd0.
          const at = bytes.indexOf(Buffer.from([0xfc, 0xd3, 0xd0]))
          if (at < 0) throw new Error('no caption')
          // A Q, with odd parity.
          bytes.writeUInt8(0x51, at + 1)
          return bytes
        }),
      finds: 'CEA-608',
    },
  ],
  async validate(output) {
    const findings: Finding[] = []
    const reports: string[] = []
    const movies = (await mp4Files(output)).filter(([name]) => !name.includes('audio'))
    for (const [name, file] of (await transportStreams(output)).filter(([name]) => !name.startsWith('audio'))) {
      // It reads units with a length prefix, as in MP4.
      await ffmpeg(['-i', file, '-map', '0:v', '-c', 'copy', `${file}.mp4`])
      movies.push([name, `${file}.mp4`])
    }
    for (const [name, file] of movies) {
      const found = await captionsOf(file)
      reports.push(`${name}: ${JSON.stringify(found)}`)
      const [caption] = found
      if (found.length !== 1 || caption?.text !== SOURCE_CLIP.caption)
        findings.push({ rule: 'ANSI/CTA-608-E: text', says: `${name}: ${JSON.stringify(found)}` })
      else if (Math.abs(caption.start - SHOWN / SOURCE_CLIP.rate) > 1 / SOURCE_CLIP.rate + 0.001)
        findings.push({ rule: 'ANSI/CTA-608-E: time', says: `${name}: shown at ${caption.start} s` })
    }
    return {
      findings: findings.map(({ rule, says }) => ({ rule: `CEA-608, ${rule}`, says })),
      report: reports.join('\n'),
    }
  },
}
