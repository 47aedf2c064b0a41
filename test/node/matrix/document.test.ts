// The support matrix (docs/matrix) is complete and current: the schema, the rows and the document contain the same
// values.
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { DIVIDED_PAGE } from '../../matrix/dividedDocument.ts'
import { anchorsOf, renderPages, expectedKeys, pagePath, titleOf } from '../../matrix/document.ts'
import { WARNING_CODES } from '#contract/warningCodes.ts'
import { missingRows, GROUPS } from '../../matrix/groups.ts'
import type { Row } from '../../matrix/row.ts'
import { ANY, VALUES, WARNING } from '../../matrix/parameterValues.ts'

const ROWS: readonly Row[] = Object.values(GROUPS).flat()

describe('values come from the schema', () => {
  const of = (path: string) => VALUES.filter((value) => value.path === path).map(({ value }) => value)
  test.each([
    ['video_codec', ['h.264', 'mpeg2', 'hevc', 'copy']],
    ['keep_fps', [true, false]],
    // Bounds, then the default.
    ['audio_volume', [0, 200, 100]],
    ['gop_length', [0.01, 60, 1]],
    ['scte35_pid_remap', [32, 8190, -1]],
    ['logo_url', [ANY, '', null]],
    ['videoProfiles[].width', [16, 7680, 0]],
    ['audioProfiles[].source_stream', ['1', '2', '3', '4', '5', '6', '7', '8']],
  ])('%s', (path, values) => {
    expect(of(path)).toEqual(values)
  })
})

describe('rows', () => {
  test('every value has a row', () => {
    expect(missingRows()).toEqual([])
  })

  test('a value without a row is named', () => {
    expect(
      missingRows(
        VALUES,
        ROWS.filter(({ path, value }) => path !== 'video_codec' || value !== 'hevc'),
      ),
    ).toEqual(['a value without a row: video_codec "hevc"'])
  })

  test('each warning code is a value', () => {
    expect(VALUES.filter(({ path }) => path === WARNING).map(({ value }) => value)).toEqual([...WARNING_CODES])
    expect(new Set(WARNING_CODES).size).toBe(WARNING_CODES.length)
  })

  test('each row has a unique anchor on its page, and every parameter can be linked by its name', () => {
    for (const rows of Object.values(GROUPS)) {
      const anchors = anchorsOf(rows)
      expect(new Set(anchors).size).toBe(rows.length)
      for (const anchor of anchors) expect(anchor).toMatch(/^[\w-]+$/)
    }
    expect(anchorsOf(GROUPS['rate']!)).toContain('gop_length')
    expect(anchorsOf(GROUPS['warnings']!)).toContain('decode_errors')
  })
})

describe('docs/internals/matrix (npm run long matrix writes it)', () => {
  test.each(Object.keys(GROUPS))('%s has exactly the rows that are measured', async (group) => {
    const lines = (await readFile(pagePath(group), 'utf8')).split('\n').filter((line) => line.startsWith('| <a id='))
    const keys = expectedKeys(group)
    expect(lines.map((line, index) => line.slice(0, keys[index]?.length))).toEqual(keys)
  })

  test('heads and counts are current', async () => {
    const pages = await renderPages('', new Map())
    expect(pages.size).toBe(Object.keys(GROUPS).length + 1)
    for (const [path, text] of pages) expect(await readFile(path, 'utf8'), path).toBe(text)
  })

  test('the page of divided jobs counts every row', async () => {
    const sections = (await readFile(DIVIDED_PAGE, 'utf8')).split(/^## /m).slice(1)
    expect(sections.map((section) => section.split('\n')[0])).toEqual(Object.keys(GROUPS).map(titleOf))
    for (const [index, rows] of Object.values(GROUPS).entries()) {
      const line = /: (\d+) pass, (\d+) fail, (\d+) by one task, (\d+) without outputs\.$/m.exec(sections[index]!)
      const counts = line?.slice(1).map(Number) ?? []
      expect(
        counts.reduce((sum, count) => sum + count, 0),
        sections[index]!.slice(0, 40),
      ).toBe(rows.length)
    }
  })
})
