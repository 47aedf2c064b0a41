// In charge of: docs/parameters.md, written from the schema that validates requests. `npm run docs` writes it,
// `node scripts/reference.ts --check` (part of the tests) says when it is out of date.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { allowedAudioBitrates } from '#contract/audio.ts'
import { acceptedValues } from '#contract/availability.ts'
import { minimumBitrateKbps } from '#contract/bitrate.ts'
import { jobErrors } from '#contract/errors.ts'
import { audioProfile, credential, fields, jobFields, videoProfile } from '#contract/request.ts'
import { requestErrors } from '#contract/errors.ts'

const target = fileURLToPath(new URL('../docs/parameters.md', import.meta.url))

interface Shaped {
  shape: Record<string, object>
}

function defaultOf(schema: object): string {
  const def = (schema as { _zod: { def: { type: string; defaultValue?: unknown } } })._zod.def
  return def.type === 'default' ? `\`${JSON.stringify(def.defaultValue)}\`` : ''
}

/** Which values work in this version. */
function availability(path: string, values: readonly unknown[]): string {
  const accepted = acceptedValues(path, values)
  if (accepted === null) return 'yes'
  return accepted.length === 0
    ? 'not available yet'
    : `only ${accepted.map((value) => `\`${String(value)}\``).join(', ')}`
}

function table(schema: Shaped, prefix: string): string {
  const rows = Object.entries(schema.shape).map(([name, member]) => {
    const meta = fields.get(member as never)
    if (!meta) return ''
    const values = meta.allowed && meta.allowed.length > 0 ? meta.allowed : [true, false]
    const works = availability(`${prefix}${name}`, values)
    return `| \`${name}\` | ${defaultOf(member)} | ${meta.expects.replaceAll('|', '\\|')} | ${meta.description} | ${works} |`
  })
  return ['| field | default | must be | meaning | works |', '|---|---|---|---|---|', ...rows.filter(Boolean)].join(
    '\n',
  )
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
  const columns = [
    ['h.264', 'cbr'],
    ['h.264', 'vbr'],
    ['hevc', 'cbr'],
    ['hevc', 'vbr'],
    ['mpeg2', 'cbr'],
    ['mpeg2', 'vbr'],
  ] as const
  return [
    `| size | ${columns.map((column) => column.join(' ')).join(' | ')} |`,
    `|---|${columns.map(() => '---|').join('')}`,
    ...sizes.map(([width, height]) => {
      const cells = columns.map(([codec, mode]) =>
        codec === 'mpeg2' && width > 1920 ? 'no level' : minimumBitrateKbps(codec, width, height, mode),
      )
      return `| ${width}×${height} | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}

function audio(): string {
  const rows = (['aac', 'ac3', 'mp2'] as const).flatMap((codec) =>
    ([2, 6] as const).map((channels) => {
      const allowed = allowedAudioBitrates(codec, channels)
      return `| ${codec} | ${channels} | ${allowed.length > 0 ? allowed.join(', ') : 'not possible'} |`
    }),
  )
  return ['| codec | channels | kbps |', '|---|---|---|', ...rows].join('\n')
}

function reference(): string {
  return `# Parameters of a job

<!-- Written by scripts/reference.ts from the schema that validates requests; do not edit. -->

Every field of \`POST /api/v0/job\`. Wire names are those of the specification, odd spellings included. Where a table says
a number, a numeric text is accepted where samples send one, and the other way round. Unknown fields are accepted, echoed
and named in \`warnings\`; what this version does not have yet is refused with the code \`not_available\`, never ignored.
All problems of a body are reported at once, each with its path.

What each value does, measured in outputs: [docs/matrix.md](matrix.md).

## Job

\`input\`, \`audioProfiles\` and \`cloud_credentials\` are required. So is \`videoProfiles\`, unless \`ladder\` is \`auto\`.

${table(jobFields, '')}

## Element of \`videoProfiles\` (1 to 16)

${table(videoProfile, 'videoProfiles[].')}

Minimum of \`video_bitrate\` in kbps: \`max(100, round50(2300 × (w·h / 2073600)^0.75 × C × M))\`, with C = 1 for h.264,
0.6 for hevc and 1.5 for mpeg2, and M = 1 for cbr and 0.75 for vbr.

${bitrates()}

## Element of \`audioProfiles\` (0 to 8)

A profile without \`source_stream\` produces no audio, with a warning.

${table(audioProfile, 'audioProfiles[].')}

Bitrates that a codec has, by the channels that are really encoded:

${audio()}

## \`cloud_credentials.input\` and \`.output\`

\`output\` may be left out: then it is the input's when an output path has the same scheme, otherwise \`vendor-store\`.
Secrets are sealed at once; a read returns \`secret_key\` as null and \`access_key\` masked.

${table(credential, 'cloud_credentials.input.')}

Without \`output\` the input's credentials serve an output path of the same scheme; otherwise outputs go to \`vendor-store\`, the service's own.

## Errors of a request

\`{"error": {"code", "message", "field"?, "details"?}}\`

| code | HTTP status |
|---|---|
${Object.entries(requestErrors)
  .map(([code, status]) => `| \`${code}\` | ${status} |`)
  .join('\n')}

## Errors of a job (\`status.error.code\`)

| code | tried again |
|---|---|
${Object.entries(jobErrors)
  .map(([code, { permanent }]) => `| \`${code}\` | ${permanent ? 'no' : 'yes, within limits'} |`)
  .join('\n')}
`
}

const text = reference()
if (process.argv.includes('--check')) {
  if ((await readFile(target, 'utf8').catch(() => '')) !== text) {
    process.stderr.write('docs/parameters.md is out of date: npm run docs\n')
    process.exitCode = 1
  }
} else {
  await writeFile(target, text)
}
