// In charge of: docs/parameters.md against the validation: the "must be", default and bounds of a field are what a
// request gets, and the problem of a wrong value is enough to mend it. An unknown wording fails, so that no field is
// published unchecked.
// Not in charge of: whether the page is current (npm run fix), the meaning of a field
// (test/node/matrix/document.test.ts).
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import type { Field } from '#contract/job/fields/field.ts'
import { REQUEST_OBJECTS } from '#contract/job/fields/request.ts'
import { BASE_URL, expectExplained, expectRefused, request } from '../requestFixture.ts'

interface Parameter {
  /** Path of the field, as in problems. */
  path: string
  field: Field
  /** A body with this value. */
  body: (value: unknown) => unknown
}

const stores = (side: 'input' | 'output', name: string, value: unknown) => {
  const others = { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } }
  return request({ cloud_credentials: { ...others, [side]: { ...others[side], [name]: value } } })
}
const CAPTION = { input: 'https://h.example/a.srt', language: 'de' }
/** A still has one of them. */
const TIMES = ['at_seconds', 'every_seconds', 'count']
const bodies: Record<string, (name: string, value: unknown) => unknown> = {
  '': (name, value) => request({ [name]: value }),
  'videoProfiles[]': (name, value) => request({}, { [name]: value }),
  'audioProfiles[]': (name, value) => request({}, {}, { [name]: value }),
  'captions[]': (name, value) => request({ captions: [{ ...CAPTION, [name]: value }] }),
  burn_in_captions: (name, value) =>
    request({ captions: Array.from({ length: 32 }, () => CAPTION), burn_in_captions: { [name]: value } }),
  'stills[]': (name, value) => request({ stills: [{ ...(TIMES.includes(name) ? {} : { count: 3 }), [name]: value }] }),
  animated_preview: (name, value) => request({ animated_preview: { [name]: value } }),
  waveform: (name, value) => request({ waveform: { [name]: value } }),
  'cloud_credentials.input': (name, value) => stores('input', name, value),
  'cloud_credentials.output': (name, value) => stores('output', name, value),
}
// The elements of inputs: test/node/contract/job/inputs.test.ts.
const parameters = REQUEST_OBJECTS.filter(({ path }) => !path.includes('inputs[]')).flatMap(({ path, fields }) =>
  Object.entries<Field>(fields).map(([name, field]): Parameter => {
    const object = path.replace('[]', '[0]')
    return { path: object === '' ? name : `${object}.${name}`, field, body: (value) => bodies[path]!(name, value) }
  }),
)

/** Codes for the type, the format or the range of a value; rules between fields have other codes. */
const OF_VALUE = ['required', 'invalid_type', 'invalid_value', 'invalid_length', 'out_of_range']

function codesOf({ path, body }: Parameter, value: unknown): string[] {
  const judged = validateJob(body(value), { baseUrl: BASE_URL })
  const found = judged.ok ? judged.warnings : judged.problems
  return found
    .filter(({ field, code }) => field === path && [...OF_VALUE, 'value_clamped'].includes(code))
    .map(({ code }) => code)
}

/** Whether a value is accepted unchanged. */
const takes = (parameter: Parameter, value: unknown): boolean => codesOf(parameter, value).length === 0
const shown = (values: unknown[]): string[] => values.map((value) => JSON.stringify(value).slice(0, 40))

/** Values that are refused with that code. */
type Refused = [code: string, ...values: unknown[]]
type Promised = (parameter: Parameter, found: RegExpExecArray) => { taken: unknown[]; refused: Refused[] }

/** A value outside the range of a field that clamps is accepted, with a warning. */
function expectProblem(parameter: Parameter, code: string, value: unknown): void {
  const { path, field, body } = parameter
  const what = `${path}: ${JSON.stringify(value)?.slice(0, 40)}`
  if (code === 'out_of_range' && field.clampTo !== undefined)
    return expect(codesOf(parameter, value), what).toEqual(['value_clamped'])
  const all = expectRefused(body(value))
  const problems = all.filter((problem) => problem.field === path)
  // Credentials that are wrong make addresses wrong too.
  if (!path.startsWith('cloud_credentials')) expect(problems, what).toEqual(all)
  expect(
    problems.map((problem) => problem.code),
    what,
  ).toContain(code)
  for (const problem of problems) expectExplained(problem)
}

/** What each wording promises: accepted values, and refused ones. */
const WORDINGS: [RegExp, Promised][] = [
  [/^true or false$/, () => ({ taken: [true, false], refused: [['invalid_type', 'true', 1, {}, [true]]] })],
  [
    /^one of (.+)$/,
    ({ field }, [, list = '']) => {
      const values = JSON.parse(`[${list}]`) as unknown[]
      expect(values).toEqual(field.allowed)
      const others = values.map((value) => String(value).toUpperCase()).filter((value) => !values.includes(value))
      return { taken: values, refused: [['invalid_value', ...others, 'nonsense', 'a'.repeat(5000), 0, true]] }
    },
  ],
  [
    /^a (whole )?number (from|above) (\S+) (?:to|and at most) ([^\s,;]+)(?:, or (-?\d+))?(?: \(\w+\))?(; others are clamped with a warning)?$/,
    (parameter, [, whole, from, least, most, also]) => {
      const [minimum, maximum] = [Number(least), Number(most)]
      expect(parameter.field).toMatchObject({
        minimum,
        maximum,
        ...(also === undefined ? {} : { additionalValue: Number(also) }),
      })
      const low = whole === undefined ? minimum - 0.5 : minimum - 1
      return {
        taken: [
          maximum,
          String(maximum),
          ...(from === 'above' ? [] : [minimum]),
          ...(also === undefined ? [] : [Number(also)]),
        ],
        refused: [
          ['out_of_range', maximum + 1, String(maximum + 1), ...(from === 'above' ? [minimum] : []), low],
          ['invalid_type', 'many', true, {}, Number.NaN, ...(whole ? [minimum + 0.5] : [])],
        ],
      }
    },
  ],
  [
    /^a string (?:of|on one line of) (?:at most|1 to) (\d+) characters( without control characters)?(, or null)?$/,
    (_, [text, length, printable, orNull]) => ({
      taken: ['x', 'x'.repeat(Number(length)), ...(orNull ? [null] : [])],
      refused: [
        ['invalid_length', 'x'.repeat(Number(length) + 1), ...(text.includes('1 to') ? [''] : [])],
        ['invalid_type', true, {}],
        ...(printable || text.includes('on one line') ? [['invalid_value', 'a\nb'] as Refused] : []),
      ],
    }),
  ],
  [
    /^an http or https address of at most (\d+) characters, or null$/,
    (_, [, length]) => ({
      taken: ['https://example.com/a', `http://h/${'x'.repeat(Number(length) - 9)}`, '', null],
      refused: [
        ['invalid_value', 'x', 's3://bucket/key'],
        ['invalid_length', `http://h/${'x'.repeat(Number(length) - 8)}`],
        ['invalid_type', 4, true],
      ],
    }),
  ],
  [
    /^seconds from 0 to (\d+), or a time like "(.+)", "(.+)" or \(drop-frame\) "(.+)"$/,
    (_, [, highest, ...samples]) => ({
      taken: [0.5, Number(highest), '5', highest, ...samples],
      refused: [
        ['out_of_range', -1, Number(highest) + 1],
        ['invalid_value', '-1', `${Number(highest) + 1}`, '', '00:60:00', 'soon', true, {}],
      ],
    }),
  ],
  [
    /^a language of ISO 639, .* like "(.+)", "(.+)" or "(.+)"$/,
    (_, [, ...samples]) => ({
      taken: [...samples, 'eng', 'und'],
      refused: [
        ['invalid_value', '', 'german', 'de_AT'],
        ['invalid_type', 5, {}],
      ],
    }),
  ],
  [
    /^seconds, or a time like "([^"]+)" or "([^"]+)"(, or a list of 1 to (\d+) of them)?$/,
    (_, [, first, second, list, length]) => ({
      taken: [0.5, '5', first, second, ...(list ? [[1], Array.from({ length: Number(length) }, () => '1')] : [])],
      refused: [
        ['out_of_range', -1],
        ['invalid_value', '', '00:60:00', 'soon', true, {}, ...(list ? [['soon'], [1, true]] : [[1]])],
      ],
    }),
  ],
  [
    /^a colour like "([^"]+)", or with its opacity "([^"]+)"$/,
    (_, [, plain, opaque]) => ({
      taken: [plain, opaque],
      refused: [
        ['invalid_value', 'white', '#fff', '#12345g', '', 'url(x)', '#1234567890'],
        ['invalid_type', 5, true, {}],
      ],
    }),
  ],
  [
    /^a time with a time zone, like "(.+)"$/,
    (_, [, sample]) => ({
      taken: [sample, '2026-01-31T20:15:00.5+05:30', '', null, false],
      refused: [
        [
          'invalid_value',
          'yesterday',
          '2026-01-31',
          '2026-01-31T20:15:00',
          '2026-13-31T20:15:00Z',
          '2026-01-31T25:00:00Z',
          5,
          true,
          {},
        ],
      ],
    }),
  ],
  [
    /^a number of kbps, at least (\d+)$/,
    ({ field }, [, least]) => {
      expect(field.minimum).toBe(Number(least))
      return {
        taken: [2300, '2300'],
        refused: [
          ['invalid_type', 'fast', true],
          ['out_of_range', -1],
        ],
      }
    },
  ],
  [
    /^the index of a source stream from 1 to 8$/,
    () => ({ taken: [1, '8'], refused: [['invalid_value', 0, 9, 'one']] }),
  ],
  [
    /^a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none"$/,
    () => ({
      taken: ['0', 0, 'none', ''],
      refused: [
        ['invalid_value', '8', 'all', '0,'],
        ['invalid_type', true],
      ],
    }),
  ],
  [
    /^1, 2 or 6 channels of the source from 1 to (\d+), separated by commas, like "3,4", each with or without a stream from 1 to (\d+) before it, like "1:1,2:1"$/,
    (_, [, channels, streams]) => ({
      taken: ['3,4', Number(channels), `1:1,${streams}:1`],
      refused: [
        ['out_of_range', `${Number(channels) + 1}`, `${Number(streams) + 1}:1`, '0', '1,2,3'],
        ['invalid_value', 'left'],
        ['invalid_type', true],
      ],
    }),
  ],
  [
    /^directives separated by commas, like "(.+)", of at most (\d+) characters$/,
    (_, [, sample, length]) => ({
      taken: [sample],
      refused: [
        ['invalid_value', 'no store'],
        ['invalid_length', `a="${'x'.repeat(Number(length))}"`],
        ['invalid_type', 5],
      ],
    }),
  ],
  [
    /^an object of at most (\d+) strings of at most (\d+) characters$/,
    (_, [, members, length]) => ({
      taken: [{ name: 'x'.repeat(Number(length)) }, {}, null],
      refused: [
        ['invalid_type', 'a', 1, true, []],
        [
          'invalid_length',
          Object.fromEntries(Array.from({ length: Number(members) + 1 }, (_each, n) => [`n${n}`, ''])),
        ],
      ],
    }),
  ],
]

describe('what the reference says of a parameter is what a request meets', () => {
  test.each(parameters)('$path', (parameter) => {
    const { field, path } = parameter
    const def = field.schema._zod.def as { type: string; innerType?: Field['schema']; defaultValue?: unknown }
    const found = WORDINGS.flatMap(([pattern, promise]) => {
      const match = pattern.exec(field.expects)
      return match ? [promise(parameter, match)] : []
    })
    expect(found, `"${field.expects}" is known here`).toHaveLength(1)
    for (const { taken, refused } of found) {
      expect(shown(taken.filter((value) => !takes(parameter, value))), 'refused, though it is allowed').toEqual([])
      for (const [code, ...values] of refused) for (const value of values) expectProblem(parameter, code, value)
    }
    if (def.type === 'default') expect(takes(parameter, def.defaultValue)).toBe(true)
    // metadata.ts validates each of its members itself.
    if (path !== 'metadata') expect(def.innerType?._zod.def.type).not.toBe('unknown')
  })

  test('and the page has each with these words', async () => {
    const page = await readFile(new URL('../../../../docs/parameters.md', import.meta.url), 'utf8')
    for (const { path, field } of parameters.filter((one) => !one.path.includes('.output.')))
      expect(page).toMatch(rowOf(path.split('.').at(-1)!, field))
  })
})

test('every example of the page is accepted without a warning', async () => {
  const page = await readFile(new URL('../../../../docs/parameters.md', import.meta.url), 'utf8')
  const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) => JSON.parse(text!) as object)
  expect(examples.length).toBeGreaterThan(10)
  for (const example of examples) {
    const { input, videoProfiles, ...rest } = request()
    const body = {
      ...('inputs' in example ? {} : { input }),
      ...('ladder' in example ? {} : { videoProfiles }),
      ...rest,
      ...('inputs' in example ? { cloud_credentials: { input: { cloud_provider: 'http' } } } : {}),
      ...example,
    }
    const judged = validateJob(body, { baseUrl: BASE_URL })
    expect(judged, JSON.stringify(example)).toMatchObject({ ok: true, warnings: [] })
  }
})

const rowOf = (name: string, { expects, meaning }: Field): RegExp => {
  const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  // Pages that are named are links.
  const words = literal(meaning).replaceAll(/docs\/(?:internals\/)?([\w-]+)\\\.md/g, String.raw`\[$1\]\([\w/-]+\.md\)`)
  return new RegExp(String.raw`^\| \[?\`${name}\`.* \| ${literal(expects)} \| ${words} \|$`, 'm')
}
