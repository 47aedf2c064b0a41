// In charge of: docs/parameters.md against the validation: the "must be", default and bounds of a field are what a
// request gets. An unknown wording fails, so that none is published unchecked.
// Not in charge of: whether the page is current (npm run fix), the meaning of a field
// (test/node/matrix/document.test.ts).
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { validateJob } from '#contract/job/validateJob.ts'
import type { Field } from '#contract/job/fields/field.ts'
import { REQUEST_OBJECTS } from '#contract/job/fields/request.ts'
import { BASE_URL, request } from '../requestFixture.ts'

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
const bodies: Record<string, (name: string, value: unknown) => unknown> = {
  '': (name, value) => request({ [name]: value }),
  'videoProfiles[]': (name, value) => request({}, { [name]: value }),
  'audioProfiles[]': (name, value) => request({}, {}, { [name]: value }),
  'captions[]': (name, value) => request({ captions: [{ ...CAPTION, [name]: value }] }),
  burn_in_captions: (name, value) =>
    request({ captions: Array.from({ length: 32 }, () => CAPTION), burn_in_captions: { [name]: value } }),
  'stills[]': (name, value) => request({ stills: [{ [name]: value }] }),
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

/** What each wording promises: accepted values, and refused ones. */
const WORDINGS: [RegExp, (parameter: Parameter, found: RegExpExecArray) => { taken: unknown[]; refused: unknown[] }][] =
  [
    [/^true or false$/, () => ({ taken: [true, false], refused: ['true', 1, {}] })],
    [
      /^one of (.+)$/,
      ({ field }, [, list = '']) => {
        const values = JSON.parse(`[${list}]`) as unknown[]
        expect(values).toEqual(field.allowed)
        return { taken: values, refused: ['nonsense'] }
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
            low,
            maximum + 1,
            'many',
            true,
            ...(from === 'above' ? [minimum] : []),
            ...(whole ? [minimum + 0.5] : []),
          ],
        }
      },
    ],
    [
      /^a string (?:of|on one line of) (?:at most|1 to) (\d+) characters( without control characters)?(, or null)?$/,
      (_, [text, length, printable, orNull]) => ({
        taken: ['x', 'x'.repeat(Number(length)), ...(orNull ? [null] : [])],
        refused: [
          'x'.repeat(Number(length) + 1),
          true,
          {},
          ...(printable || text.includes('on one line') ? ['a\nb'] : []),
          ...(text.includes('1 to') ? [''] : []),
        ],
      }),
    ],
    [
      /^an http or https address of at most (\d+) characters, or null$/,
      (_, [, length]) => ({
        taken: ['https://example.com/a', `http://h/${'x'.repeat(Number(length) - 9)}`, '', null],
        refused: ['x', 's3://bucket/key', `http://h/${'x'.repeat(Number(length) - 8)}`, 4, true],
      }),
    ],
    [
      /^seconds from 0 to (\d+), or a time like "(.+)", "(.+)" or \(drop-frame\) "(.+)"$/,
      (_, [, highest, ...samples]) => ({
        taken: [0.5, Number(highest), '5', highest, ...samples],
        refused: [-1, Number(highest) + 1, '-1', `${Number(highest) + 1}`, '', '00:60:00', 'soon', true, {}],
      }),
    ],
    [
      /^a language of ISO 639, .* like "(.+)", "(.+)" or "(.+)"$/,
      (_, [, ...samples]) => ({ taken: [...samples, 'eng', 'und'], refused: ['', 'german', 'de_AT', 5, {}] }),
    ],
    [
      /^seconds, or a time like "([^"]+)" or "([^"]+)"(, or a list of 1 to (\d+) of them)?$/,
      (_, [, first, second, list, length]) => ({
        taken: [0.5, '5', first, second, ...(list ? [[1], Array.from({ length: Number(length) }, () => '1')] : [])],
        refused: [-1, '', '00:60:00', 'soon', true, {}, [], ...(list ? [['soon'], [1, true]] : [[1]])],
      }),
    ],
    [
      /^a colour like "([^"]+)", or with its opacity "([^"]+)"$/,
      (_, [, plain, opaque]) => ({
        taken: [plain, opaque],
        refused: ['white', '#fff', '#12345g', '', 5, true, {}],
      }),
    ],
    [
      /^a time with a time zone, like "(.+)"$/,
      (_, [, sample]) => ({
        taken: [sample, '2026-01-31T20:15:00.5+05:30', '', null, false],
        refused: [
          'yesterday',
          '2026-01-31',
          '2026-01-31T20:15:00',
          '2026-13-31T20:15:00Z',
          '2026-01-31T25:00:00Z',
          5,
          true,
          {},
        ],
      }),
    ],
    [
      /^a number of kbps, at least (\d+)$/,
      ({ field }, [, least]) => {
        expect(field.minimum).toBe(Number(least))
        return { taken: [2300, '2300'], refused: ['fast', -1, true] }
      },
    ],
    [/^the index of a source stream from 1 to 8$/, () => ({ taken: [1, '8'], refused: [0, 9, 'one'] })],
    [
      /^a position in audioProfiles from 0 to 7, several separated by commas, like "0,1", or "none"$/,
      () => ({ taken: ['0', 0, 'none', ''], refused: ['8', 'all', '0,', true] }),
    ],
    [
      /^1, 2 or 6 channels of the source from 1 to (\d+), separated by commas, like "3,4", each with or without a stream from 1 to (\d+) before it, like "1:1,2:1"$/,
      (_, [, channels, streams]) => ({
        taken: ['3,4', Number(channels), `1:1,${streams}:1`],
        refused: [`${Number(channels) + 1}`, `${Number(streams) + 1}:1`, '0', '1,2,3', 'left', true],
      }),
    ],
    [
      /^directives separated by commas, like "(.+)", of at most (\d+) characters$/,
      (_, [, sample, length]) => ({ taken: [sample], refused: ['no store', `a="${'x'.repeat(Number(length))}"`, 5] }),
    ],
    [
      /^an object of at most (\d+) strings of at most (\d+) characters$/,
      (_, [, members, length]) => ({
        taken: [{ name: 'x'.repeat(Number(length)) }, {}, null],
        refused: [
          'a',
          1,
          [],
          Object.fromEntries(Array.from({ length: Number(members) + 1 }, (_each, n) => [`n${n}`, ''])),
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
      expect(shown(refused.filter((value) => takes(parameter, value))), 'accepted, though it is not allowed').toEqual(
        [],
      )
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

const rowOf = (name: string, { expects, meaning }: Field): RegExp => {
  const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`^\| \[?\`${name}\`.* \| ${literal(expects)} \| ${literal(meaning)} \|$`, 'm')
}
