// In charge of: docs/parameters.md and client/jobRequest.ts, generated from the schema that validates requests, and the
// tables of docs/monitoring.md and docs/troubleshooting.md. `npm run fix` writes them; `node scripts/generateReference.ts --check` (part of the tests) fails if they are out of date.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { allowedAudioBitrates } from '#contract/job/rules/audioBitrates.ts'
import { AUDIO_CODECS, VIDEO_CODECS, videoCodecs, WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import { fitsCodec, minimumBitrateKbps } from '#contract/job/rules/videoBitrates.ts'
import { errorAdvice } from '#contract/errorAdvice.ts'
import { jobErrorPolicies, requestErrorStatus } from '#contract/errorCodes.ts'
import { MAX_STILLS } from '#contract/limits.ts'
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

/** @param path of the object, as in the table of objects (contract/job/fields/request.ts) */
function table(path: string): string {
  const rows = Object.entries(requestObjectAt(path)!.fields).map(([name, { schema, expects, meaning }]) => {
    const measured = measuredAt.get(path === '' ? name : `${path}.${name}`)
    const shown = measured === undefined ? `\`${name}\`` : `[\`${name}\`](${measured})`
    return `| ${shown} | ${defaultOf(schema)} | ${expects.replaceAll('|', '\\|')} | ${meaning} |`
  })
  return ['| field | default | must be | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function bitrates(): string {
  const sizes = [
    [3840, 2160],
    [1920, 1080],
    [1280, 720],
    [960, 540],
    [720, 576],
    [640, 360],
    [416, 234],
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
  const rows = AUDIO_CODECS.flatMap((codec) =>
    ([2, 6] as const).map((channels) => {
      const allowed = allowedAudioBitrates(codec, channels)
      const rates = allowed === null ? 'none: every sample is kept' : allowed.join(', ') || 'not possible'
      return `| ${codec} | ${channels} | ${rates} |`
    }),
  )
  return ['| codec | channels | kbps |', '|---|---|---|', ...rows].join('\n')
}

function reference(): string {
  return `# Parameters of a job

<!-- Written by scripts/generateReference.ts from the schema that validates requests; do not edit. -->

Every field of \`POST /api/v0/job\`, with the names of the specification, odd spellings included. Numbers may be sent as strings and
the other way round. \`null\` means the same as leaving an optional field out. A field that has no effect on a job is named in
\`warnings\` (\`no_effect\`; every code: [warnings](internals/matrix/warnings.md)). Unknown fields are accepted, echoed and named in \`warnings\`. A value that cannot be used is
refused, never ignored. All problems of a body are reported at once, each with its path.

What each value does was measured in decoded outputs: each field below leads to its rows in [measured values](internals/matrix.md).

## Job

\`input\` (or \`inputs\`) and \`cloud_credentials\` are required, and something to make: \`videoProfiles\` (or \`ladder\`) together with \`audioProfiles\`, which
may be empty, or \`"videoProfiles": []\` for [audio only](audio.md).

${table('')}

## Element of \`inputs\` (1 to 100)

Instead of \`input\`: sources that are joined in this order ([several sources](inputs.md)).

${table('inputs[]')}

## Element of \`videoProfiles\` (0 to 16)

${table('videoProfiles[]')}

Minimum of \`video_bitrate\` in kbps: \`max(100, round50(2300 × (w·h / 2073600)^0.75 × C × M))\`, with C = 1 for h.264,
0.6 for hevc and 1.5 for mpeg2, and M = 1 for cbr and 0.75 for vbr.

${bitrates()}

### \`ladder\`: sizes and bitrates chosen from the source

With \`"ladder": "auto"\`, \`videoProfiles\` is left out. The source gets every rung of this table that is not larger than
itself (540p, or 480p where it has no 540 lines), all with its own frame rate, progressive, \`vbr\` and every audio profile.
Bitrates are in kbps; between the columns, and for other shapes, they follow from pixels and frame rate.

${ladder()}

- The table's sizes are boxes: a source of another shape fills the box as far as it can. A 1920×800 source has a 1080p rung of
  1920×800, and a portrait source stands upright, 1080×1920. A source up to 5 % smaller than a rung gets it at its own size.
- A source 15 % or more above its largest rung keeps its own size too: 1600×900 has a 900p rung above 720p.
- Anamorphic sources become square pixels. Nothing is upscaled.
- A source that is smaller than 240p gets one rung of its own size.
- Files are called \`<input name>_<n>_<rung>p.mp4\` or \`.ts\`, the directories of segmented output \`video_<rung>p\`.
  \`status.outputs[].profile\` counts the rungs from 0. A [dry run](dry-run.md) lists them.

### \`allow_upscaling\`: profiles larger than the source

| value | a video profile that is larger than the source |
|---|---|
| absent | is made, with the warning \`upscaled\` |
| \`true\` | is made |
| \`false\` | is left out, with the warning \`rung_left_out\`. When every profile is larger, the smallest is made at the source's size with the bitrate of that size, and at most twice that of the source (\`rung_at_source_size\`) |

The picture counts, as it is shown: upright, in square pixels, without bars and without what is cropped. Two pixels more are
rounding.

## Element of \`audioProfiles\` (0 to 8)

A profile without \`source_stream\` produces no audio, with a warning. A \`source_stream\` that the source lacks fails the job with
\`audio_stream_missing\`; with \`"optional": true\` the profile is left out instead, with the warning \`audio_left_out\`, so that a
source without audio gives video-only outputs.

${table('audioProfiles[]')}

Bitrates that a codec has, by the channels that are really encoded:

${audio()}

## Element of \`captions\` (0 to 32)

Caption files beside the source: [captions](captions.md).

${table('captions[]')}

## \`burn_in_captions\`

Captions that are drawn into the video of every output; one of the two members is required: [burned-in captions](captions.md#burned-in-captions).

${table('burn_in_captions')}

## Element of \`stills\` (1 to 16)

One of \`at_seconds\`, \`every_seconds\` and \`count\` is required. A job makes at most ${MAX_STILLS} images. More: [stills, previews and waveforms](stills.md).

${table('stills[]')}

## \`animated_preview\`

${table('animated_preview')}

## \`waveform\`

${table('waveform')}

## \`cloud_credentials.input\` and \`.output\`

\`output\` may be left out: then it is the input's when an output path has the same scheme, otherwise \`vendor-store\`.
Secrets are sealed at once; a read returns \`secret_key\` as null and \`access_key\` masked.

${table('cloud_credentials.input')}

Without \`output\` the input's credentials serve an output path of the same scheme; otherwise outputs go to \`vendor-store\`, the service's own.

## Errors of a request

\`{"error": {"code", "message", "field"?, "details"?, "advice", "docs"}}\`

| code | HTTP status |
|---|---|
${Object.entries(requestErrorStatus)
  .map(([code, status]) => `| \`${code}\` | ${status} |`)
  .join('\n')}

## Errors of a job (\`status.error.code\`)

| code | tried again |
|---|---|
${Object.entries(jobErrorPolicies)
  .map(([code, { permanent }]) => `| \`${code}\` | ${permanent ? 'no' : 'yes, within limits'} |`)
  .join('\n')}
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
