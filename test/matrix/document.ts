// In charge of: docs/internals/matrix.md, the summary, and a page for each group (docs/internals/matrix/), written from the measurements;
// the page of a group that was not run stays unchanged.
// Not in charge of: measuring (runner.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../scripts/local/localSettings.ts'
import { GROUPS } from './groups.ts'
import type { Measurement, Row } from './row.ts'
import { showValue, WARNING } from './parameterValues.ts'

export const INDEX = join(ROOT, 'docs/internals/matrix.md')
export const pagePath = (group: string): string => join(ROOT, 'docs/internals/matrix', `${group}.md`)

export type Result = 'pass' | 'fail'
export interface MeasuredRow {
  row: Row
  measured: string
  verdict: Result
}

export function measuredRow(row: Row, finding: Measurement): MeasuredRow {
  return { row, measured: finding.measured, verdict: finding.ok ? 'pass' : 'fail' }
}

const cell = (text: string) => text.replaceAll('\n', ' ').replaceAll('|', '\\|')
const code = (text: string) => `\`${cell(text)}\``

const slug = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

/**
 * The anchor of a row: parameter and value, with a number if several rows have both in common. The first row of a
 * parameter has the parameter alone. Unique within a page.
 */
export function anchorsOf(rows: readonly Row[]): string[] {
  const seen = new Map<string, number>()
  const paths = new Set<string>()
  return rows.map(({ path, value }) => {
    const isFirst = path !== WARNING && !paths.has(path)
    paths.add(path)
    const said = value === undefined ? 'absent' : slug(showValue(value)).slice(0, 40)
    const name = isFirst ? slug(path) : path === WARNING ? said : `${slug(path)}-${said || 'empty'}`
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name}-${count}`
  })
}

/** What identifies a row in the document: its anchor, parameter, value, job and expectation. */
function keyCells(row: Row, anchor: string): string[] {
  const value = row.value === undefined ? 'absent' : code(showValue(row.value))
  const nothing = Object.keys(row.job).length === 0
  const from = row.source === undefined ? '' : ` of ${row.source}`
  const which = row.output === undefined ? '' : `, output ${row.output}`
  const job = `${nothing ? 'the base job' : code(JSON.stringify(row.job))}${from}${which}`
  return [
    `<a id="${anchor}" href="#${anchor}">#</a>`,
    code(row.path),
    value,
    row.test === undefined ? job : `test: ${cell(row.test)}`,
    cell(row.expected),
  ]
}

function table(lines: readonly MeasuredRow[]): string {
  const anchors = anchorsOf(lines.map(({ row }) => row))
  const head = ['', 'parameter', 'value', 'job', 'expected', 'measured', '']
  const rows = lines.map(({ row, measured, verdict }, index) => [
    ...keyCells(row, anchors[index]!),
    cell(measured),
    verdict,
  ])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The start of each row's line, in the order of the document. */
export function expectedKeys(group: string): string[] {
  const anchors = anchorsOf(GROUPS[group]!)
  return GROUPS[group]!.map((row, index) => `| ${keyCells(row, anchors[index]!).join(' | ')} |`)
}

/** The content of a group's page below its head; '' if there is none. */
async function measuredBefore(group: string): Promise<string> {
  const text = await readFile(pagePath(group), 'utf8').catch(() => '')
  return text.slice(text.indexOf(FIRST_WORDS) < 0 ? text.length : text.indexOf(FIRST_WORDS)).trimEnd()
}

const count = (section: string, verdict: Result): number => `${section}\n`.split(`| ${verdict} |\n`).length - 1

/** Distributions append to the version number: "5.1.9-0+deb12u1", "n7.0-7-gd38bf5e08e". */
export const plainVersion = (version: string): string => /\d+(\.\d+)+/.exec(version)?.[0] ?? version

/** All pages by path; the `measured` groups are new, the others unchanged. */
export async function renderPages(
  engineVersion: string,
  measured: ReadonlyMap<string, readonly MeasuredRow[]>,
): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  const counts: string[] = []
  let [passed, failed] = [0, 0]
  for (const group of Object.keys(GROUPS)) {
    const lines = measured.get(group)
    const section =
      lines === undefined ? await measuredBefore(group) : `${FIRST_WORDS}${engineVersion}.\n\n${table(lines)}`
    const { title, about } = ABOUT[group] ?? { title: group, about: '' }
    pages.set(pagePath(group), `${head(title)}\n${section}\n`)
    const [good, bad] = [count(section, 'pass'), count(section, 'fail')]
    counts.push(`| [${title}](matrix/${group}.md) | ${about} | ${good} | ${bad} |`)
    passed += good
    failed += bad
  }
  const total = `**${passed} pass, ${failed} fail.**`
  const listed = ['| page | parameters | pass | fail |', '| --- | --- | --- | --- |', ...counts].join('\n')
  pages.set(INDEX, `${PREFACE}\n${total}\n\n${listed}\n`)
  return pages
}

const FIRST_WORDS = 'Measured with ffmpeg '

const head = (title: string): string => `# Measured values: ${title}

<!-- Written by \`npm run long matrix\`; do not edit. -->

How these are measured, and the other pages: [measured values](../matrix.md).
`

/** A page's title and its parameters. A group without an entry uses its name. */
const ABOUT: Record<string, { title: string; about: string }> = {
  container: { title: 'containers and codecs', about: 'container, codec, output names, programs' },
  rate: { title: 'bitrate, quality, GOPs', about: 'bitrate, rate control, quality, GOP length, frame rate' },
  scan: { title: 'interlacing and pulldown', about: 'deinterlacing, inverse telecine' },
  geometry: { title: 'size and geometry', about: 'size, aspect ratio, crop, letterbox, rotation' },
  color: { title: 'colour and HDR', about: 'dynamic range, gamut' },
  logo: { title: 'logo', about: 'watermark, position, opacity' },
  captions: { title: 'captions', about: 'closed captions' },
  'caption-files': { title: 'caption files', about: 'caption files beside the source' },
  'burned-in-captions': { title: 'burned-in captions', about: 'captions drawn into the video' },
  cues: { title: 'SCTE-35', about: 'cues and their PID' },
  service: { title: 'transport streams', about: 'DVB and ATSC signalling, service names, PIDs' },
  audio: { title: 'audio', about: 'codec, channels, downmix, volume, loudness, dialogue level' },
  'audio-bitrates': { title: 'audio bitrates', about: 'every bitrate of aac, ac3 and mp2, in stereo and in 5.1' },
  'audio-files': { title: 'audio files', about: 'files without video: codec, container, sample rate, bit depth' },
  'audio-file-bitrates': {
    title: 'audio file bitrates',
    about: 'every bitrate of mp3, opus and eac3, in stereo and in 5.1',
  },
  'segments-without-video': {
    title: 'segments without video',
    about: 'HLS and DASH without video: codecs, segment length, audio ladder',
  },
  copy: { title: 'copies', about: 'video and audio of the source as they are, what excludes it' },
  extracts: { title: 'stills, previews, waveforms', about: 'stills, animated preview, waveform' },
  segmented: { title: 'segmented output', about: 'HLS, DASH, Smooth Streaming, thumbnails, tar' },
  source: { title: 'ladders and the source', about: 'automatic ladder, upscaling, optional audio' },
  inputs: { title: 'several sources', about: 'the elements of inputs: address, part, audio streams' },
  addresses: { title: 'sources, stores, webhooks', about: 'input, credentials, logo and webhook addresses' },
  warnings: { title: 'warnings', about: 'every code of `status.warnings`' },
}

export const titleOf = (group: string): string => ABOUT[group]?.title ?? group

const PREFACE = `# Measured values

<!-- Written by \`npm run long matrix\`; do not edit. -->

One row for each value of each parameter ([parameters](../parameters.md)): every value of a list, both values of a flag, the bounds and the
default of a number, and the empty string and null where they are allowed; and one for each warning code. The service's own code validates, plans and encodes each job; the
output is then probed and decoded, or its packets are read. What is expected follows from the contract, never from ffmpeg's arguments. The
sources are generated (\`test/matrix/sourceClips.ts\`).

The base job makes a 320 × 180 mp4 at 500 kbps in h.264, with 128 kbps aac. A row shows what its job adds, and after "of" the source if it is
not \`plain\`. If a value's effect depends on the version of ffmpeg, the row says so. \`npm run long matrix\` measures everything again,
\`npm run long matrix -- --only rate\` one group; a value without a row fails. The same rows were measured on [divided jobs](matrix/divided.md).
`
