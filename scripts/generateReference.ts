// In charge of: docs/parameters.md and client/jobRequest.ts, generated from the schema that validates requests, and the
// tables of docs/monitoring.md and docs/troubleshooting.md. `npm run fix` writes them; `node scripts/generateReference.ts --check` (part of the tests) fails if they are out of date.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { allowedAudioBitrates } from '#contract/job/rules/audioBitrates.ts'
import { AUDIO_CODECS, VIDEO_CODECS, videoCodecs, WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import { fitsCodec, minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { errorAdvice } from '#contract/errorAdvice.ts'
import { MAX_STILLS } from '#contract/limits.ts'
import type { FieldGroup } from '#contract/job/fields/field.ts'
import { fieldsOfGroup, type jobFields } from '#contract/job/fields/job.ts'
import { requestObjectAt } from '#contract/job/fields/request.ts'
import { RUNG_LINES, rungBitrateKbps } from '../transcoder/plan/video/ladder.ts'
import { tableText, withMonitoringTables } from './monitoringTables.ts'
import { requestSchemas } from './openapi/requestSchemas.ts'
import { derivedDeclaration, typeDeclaration } from './package/schemaTypes.ts'

/** The first row of each parameter in the pages of measured values (npm run long matrix), as a link within docs/. */
async function measuredRows(): Promise<Map<string, string>> {
  const directory = new URL('../docs/internals/matrix/', import.meta.url)
  const found = new Map<string, string>()
  for (const page of (await readdir(directory)).toSorted()) {
    const text = await readFile(new URL(page, directory), 'utf8')
    for (const [, anchor, path] of text.matchAll(/^\| <a id="([^"]+)"[^|]*\| `([^`]+)` \|/gm))
      if (!found.has(path!)) found.set(path!, `internals/matrix/${page}#${anchor}`)
  }
  return found
}
const measuredAt = await measuredRows()

function defaultOf(schema: object): string {
  const def = (schema as { _zod: { def: { type: string; defaultValue?: unknown } } })._zod.def
  return def.type === 'default' ? `\`${JSON.stringify(def.defaultValue)}\`` : ''
}

/**
 * @param path of the object, as in the table of objects (contract/job/fields/request.ts)
 * @param names of its fields in the table; absent = all
 */
function table(path: string, names?: readonly string[]): string {
  const { fields } = requestObjectAt(path)!
  const shown = names ?? Object.keys(fields)
  const hasDefaults = shown.some((name) => defaultOf(fields[name]!.schema) !== '')
  const rows = shown.map((name) => {
    const { schema, expects, meaning } = fields[name]!
    const measured = measuredAt.get(path === '' ? name : `${path}.${name}`)
    const first = measured === undefined ? `\`${name}\`` : `[\`${name}\`](${measured})`
    const given = hasDefaults ? `${defaultOf(schema)} | ` : ''
    return `| ${first} | ${given}${expects.replaceAll('|', '\\|')} | ${linked(meaning)} |`
  })
  const head = hasDefaults
    ? ['| field | default | must be | meaning |', '|---|---|---|---|']
    : ['| field | must be | meaning |', '|---|---|---|']
  return [...head, ...rows].join('\n')
}

/** The pages that a meaning names, as links. */
const linked = (meaning: string): string => meaning.replaceAll(/\bdocs\/((?:internals\/)?([\w-]+)\.md)/g, '[$2]($1)')

/** Fields of a job that the form shows elsewhere than in their group, or not at all. */
const UNGROUPED = {
  source: ['input', 'preset'],
  renditions: ['ladder'],
  packaging: ['separate_audio'],
  broadcast: ['scte35_passthrough'],
  notice: ['metadata'],
} as const satisfies Partial<Record<FieldGroup | 'source', readonly (keyof typeof jobFields)[]>>

/** The fields of a job in one part of the form. */
function groupTable(group: FieldGroup): string {
  const others: Partial<Record<FieldGroup, readonly string[]>> = UNGROUPED
  return table('', [...fieldsOfGroup(group), ...(others[group] ?? [])])
}

function bitrates(): string {
  const sizes = [
    [3840, 2160],
    [1920, 1080],
    [1280, 720],
    [720, 576],
    [640, 360],
  ] as const
  const columns = WIRE_VIDEO_CODECS.flatMap((codec) => (['cbr', 'vbr'] as const).map((mode) => [codec, mode] as const))
  return [
    `| size | ${columns.map((column) => column.join(' ')).join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...sizes.map(([width, height]) => {
      const cells = columns.map(([codec, mode]) =>
        fitsCodec(codec, width, height) ? minimumBitrateKbps(codec, width, height, mode) : 'no level',
      )
      return `| ${width}×${height} | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

function ladder(): string {
  const classes = RUNG_LINES.toSorted((a, b) => b - a)
  const columns = VIDEO_CODECS.flatMap((codec) => [30, 60].map((framesPerSecond) => ({ codec, framesPerSecond })))
  const cells = (width: number, height: number) =>
    columns.map(({ codec, framesPerSecond }) =>
      fitsCodec(codec, width, height) ? rungBitrateKbps(codec, { width, height }, framesPerSecond) : 'no level',
    )
  const heads = columns.map(({ codec, framesPerSecond }) => `${videoCodecs[codec].requestName}, ${framesPerSecond} fps`)
  return [
    `| rung | 16:9 | ${heads.join(' | ')} |`,
    `|---|---|${heads.map(() => '---|').join('')}`,
    ...classes.map((lines) => {
      const width = 2 * Math.round((lines * 16) / 9 / 2)
      return `| ${lines}p | ${width}×${lines} | ${cells(width, lines).join(' | ')} |`
    }),
  ].join('\n')
}

function audio(): string {
  const rows = AUDIO_CODECS.map((codec) => {
    const [stereo, surround] = ([2, 6] as const).map((channels) => {
      const allowed = allowedAudioBitrates(codec, channels)
      return allowed === null ? 'lossless' : allowed.join(', ') || 'not possible'
    })
    return `| ${codec} | ${stereo} | ${surround} |`
  })
  return ['| codec | 2 channels | 6 channels |', '|---|---|---|', ...rows].join('\n')
}

function reference(): string {
  return `# Parameters of a job

<!-- Written by scripts/generateReference.ts from the schema that validates requests; do not edit. -->

Every field of \`POST /api/v0/job\`, grouped as in the dashboard's form.

\`\`\`json
{
  "input": "https://example.com/film.mov",
  "ladder": "auto",
  "audioProfiles": [{ "source_stream": "1", "optional": true }],
  "cloud_credentials": { "input": { "cloud_provider": "http" } }
}
\`\`\`

- Required are a source, \`cloud_credentials\`, and something to make: \`videoProfiles\` (or \`ladder\`) with \`audioProfiles\`, which may be empty, or
  \`"videoProfiles": []\` for [audio only](audio.md). More requests: [recipes](recipes.md).
- Numbers may be sent as strings and strings as numbers. \`null\` leaves an optional field out.

- A field without effect on the job is named in \`warnings\` (\`no_effect\`; [every code](internals/matrix/warnings.md)), as is an unknown field.
- A field's name leads to its [measured values](internals/matrix.md).

## Source

\`\`\`json
{ "inputs": [{ "input": "https://example.com/bumper.mp4" }, { "input": "https://example.com/film.mov", "start_seconds": 10 }] }
\`\`\`

${table('', UNGROUPED.source)}

### Element of \`inputs\` (1 to 100)

[Several sources](inputs.md) that are joined in this order, instead of \`input\`.

${table('inputs[]')}

## Renditions

\`\`\`json
{ "videoProfiles": [{ "output": "film.mp4", "width": 0, "height": 1080, "video_bitrate": 5000 }], "allow_upscaling": false }
\`\`\`

${groupTable('renditions')}

### Element of \`videoProfiles\` (0 to 16)

${table('videoProfiles[]')}

Minimum of \`video_bitrate\` in kbps: \`max(100, round50(2300 × (w·h / 2073600)^0.75 × C × M))\`, with C = 1 for h.264,
0.6 for hevc and 1.5 for mpeg2, and M = 1 for cbr and 0.75 for vbr.

${bitrates()}

### \`ladder\`: sizes and bitrates chosen from the source

With \`"ladder": "auto"\`, the source gets every rung of this table that is not larger than itself, progressive, \`vbr\`, with its own
frame rate and every audio profile. 480p is used where the source has no 540 lines. Bitrates are in kbps; for other shapes and frame
rates, they follow from pixels and frame rate.

${ladder()}

- A size is a box that other shapes fill: a 1920×800 source has a 1080p rung of 1920×800, a portrait source one of 1080×1920.
- A source up to 5 % smaller than a rung gets it at its own size. One that is 15 % or more above its largest rung, or smaller than 240p, gets
  a rung of its own size: 1600×900 has a 900p rung.
- Anamorphic sources become square pixels.
- Files are called \`<input name>_<n>_<rung>p.mp4\` or \`.ts\`, directories of segmented output \`video_<rung>p\`. A [dry run](dry-run.md)
  lists them.

### \`allow_upscaling\`: profiles larger than the source

| value | a video profile that is larger than the source |
|---|---|
| absent | is made, with the warning \`upscaled\` |
| \`true\` | is made |
| \`false\` | is left out (\`rung_left_out\`). If all are larger, the smallest is made at the source's size, with the bitrate of that size, at most twice the source's (\`rung_at_source_size\`) |

The picture counts as it is shown: upright, in square pixels, without bars and cropped parts.

## Audio

\`\`\`json
{ "audioProfiles": [{ "audio_codec": "aac", "audio_bitrate": "128", "source_stream": "1", "optional": true }], "loudness_lufs": -23 }
\`\`\`

${groupTable('audio')}

### Element of \`audioProfiles\` (0 to 8)

If the source lacks a \`source_stream\`, the job ends with \`audio_stream_missing\`; with \`"optional": true\`, the profile is left out
(\`audio_left_out\`). More: [audio](audio.md), [loudness and downmix](media.md).

${table('audioProfiles[]')}

Bitrates in kbps, by the channels that are encoded:

${audio()}

## Caption files

\`\`\`json
{ "captions": [{ "input": "https://example.com/film.de.srt", "language": "de" }], "burn_in_captions": { "captions": 0 } }
\`\`\`

### Element of \`captions\` (0 to 32)

${table('captions[]')}

### \`burn_in_captions\`

One of the two: [burned-in captions](captions.md#burned-in-captions).

${table('burn_in_captions')}

## Packaging

\`\`\`json
{ "output_container": "hls", "segmented_output_dash": true, "segment_length": 6 }
\`\`\`

${groupTable('packaging')}

## Part of the source

\`\`\`json
{ "start_seconds": "00:10:00.480", "end_seconds": 631.5 }
\`\`\`

${groupTable('part')}

## Video encoding

\`\`\`json
{ "video_codec": "hevc", "h264_quality": "better", "gop_length": 2 }
\`\`\`

${groupTable('encoding')}

## Frame and logo

\`\`\`json
{ "picture_transform": "letterbox", "logo_url": "https://example.com/logo.png", "logo_opacity": 80 }
\`\`\`

${groupTable('frame')}

## Captions, SCTE-35 cues and programs

\`\`\`json
{ "output_container": "ts", "closed_captions": true, "scte35_passthough": true, "program_number": 2 }
\`\`\`

More: [captions of the source](segmented.md#webvtt-captions), [SCTE-35](scte35.md), [programs](media.md#programs-of-a-transport-stream),
[damaged sources](sources.md#damaged-sources).

${groupTable('broadcast')}

## Transport stream

\`\`\`json
{ "output_container": "ts", "ts_profile": "dvb", "service_name": "News", "video_pid": 512 }
\`\`\`

${groupTable('service')}

## Notification and metadata

\`\`\`json
{ "webhook_url": "https://example.com/hook", "metadata": { "customer": "42" } }
\`\`\`

${groupTable('notice')}

## Stills, preview and waveform

\`\`\`json
{ "stills": [{ "at_seconds": 12, "width": 1280 }], "animated_preview": { "seconds": 4 }, "waveform": { "format": "png" } }
\`\`\`

More: [stills, previews and waveforms](stills.md).

### Element of \`stills\` (1 to 16)

One of \`at_seconds\`, \`every_seconds\` and \`count\` is required. A job makes at most ${MAX_STILLS} images.

${table('stills[]')}

### \`animated_preview\`

${table('animated_preview')}

### \`waveform\`

${table('waveform')}

## Destination

\`\`\`json
{ "bucket_output_path": "s3://films/june", "cloud_credentials": { "input": { "cloud_provider": "http" }, "output": { "cloud_provider": "aws", "access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "…", "region": "eu-west-1" } } }
\`\`\`

${groupTable('destination')}

### \`cloud_credentials.input\` and \`.output\`

Without \`output\`, the input's credentials serve an output path of the same scheme; otherwise outputs go to \`vendor-store\`, the service's own.
A read returns \`secret_key\` as null and \`access_key\` masked. Which store needs what: [stores](stores.md).

${table('cloud_credentials.input')}
`
}

/** The types of a request for programs, with the names of the OpenAPI document. */
function requestTypes(): string {
  const { Job: job, PresetJob: presetJob, ...others } = requestSchemas
  const declarations = [
    typeDeclaration('JobRequest', job!),
    derivedDeclaration('PresetJob', presetJob!, 'JobRequest', job!),
    ...Object.entries(others).map(([name, schema]) => typeDeclaration(name, schema)),
  ]
  return `// In charge of: the types of a job's request, as the package of the client has them: without the library that validates.
// Written by scripts/generateReference.ts from the schema that validates requests; do not edit (npm run fix).

${declarations.join('\n')}`
}

/** The page of errors, with what to do about each code in the last cell of its row. */
function withAdvice(page: string): string {
  const advice: Readonly<Record<string, string>> = errorAdvice
  return page.replaceAll(/^(\| (?:<a id="\w+"><\/a>)?`(\w+)` .*\|)[^|]*\|$/gm, (row, cells: string, code: string) =>
    code in advice ? `${cells} ${advice[code]} |` : row,
  )
}

const read = (path: string): Promise<string> => readFile(new URL(`../${path}`, import.meta.url), 'utf8')
const monitoring = withMonitoringTables(await read('docs/monitoring.md'), await read('docs/internals/performance.md'))
const files: readonly [path: string, text: string, comparable?: (text: string) => string][] = [
  ['docs/parameters.md', reference()],
  ['docs/monitoring.md', monitoring, tableText],
  ['docs/troubleshooting.md', withAdvice(await read('docs/troubleshooting.md')), tableText],
  ['client/jobRequest.ts', requestTypes()],
]
for (const [path, text, comparable = (whole: string) => whole] of files) {
  const target = fileURLToPath(new URL(`../${path}`, import.meta.url))
  if (!process.argv.includes('--check')) await writeFile(target, text)
  else if (comparable(await readFile(target, 'utf8').catch(() => '')) !== comparable(text)) {
    process.stderr.write(`${path} is out of date: npm run fix\n`)
    process.exitCode = 1
  }
}
