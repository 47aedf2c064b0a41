// In charge of: parsing XML answers of stores, including malicious ones.
import { expect, test } from 'vitest'
import { childElements, escapeXml, parseXml, elementText } from '../../../../worker/storage/s3/s3Xml.ts'

test('text that no tag ends is read once', () => {
  for (const text of [`<${'a'.repeat(8_000_000)}`, `<a ${'b="c" '.repeat(1_000_000)}`, '<!--'.repeat(1_000_000)])
    expect(parseXml(text)).toBeNull()
})

test('elements, attributes, namespaces, entities, CDATA and comments', () => {
  const root = parseXml(
    `<?xml version="1.0"?>\n<!-- <Key>no</Key> --><s3:List xmlns:s3='http://x/"y">'><Contents><Key>a &amp;&lt;&#x1F600;&#233;</Key></Contents><Contents a=">"><Key><![CDATA[<&amp;>]]></Key><Empty/></Contents></s3:List>\n`,
  )
  expect(root?.name).toBe('List')
  expect(childElements(root!, 'Contents').map((each) => elementText(each, 'Key'))).toEqual(['a &<😀é', '<&amp;>'])
  expect(elementText(root, 'Contents', 'Nothing')).toBe(null)
})

test('what is written is read again', () => {
  const key = `a<b>&"'c]]>&amp;`
  expect(elementText(parseXml(`<K><Key>${escapeXml(key)}</Key></K>`), 'Key')).toBe(key)
})

test.each([
  '',
  'text',
  '<a>',
  '<a></b>',
  '<a></a><b/>',
  '<a>&#x7fffffff;</a',
  '<a b="c></a>',
  '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
  '<html><br></html>',
  '<a>'.repeat(100_000),
  `<a ${'"'.repeat(99_999)}></a>`,
  `<!--${'-'.repeat(100_000)}`,
])('%# is not XML of a store', (text) => {
  expect(parseXml(text)).toBe(null)
})

test('an unknown entity stays as it is', () => {
  expect(parseXml('<a>&x;&#x7fffff;</a>')?.text).toBe('&x;&#x7fffff;')
})
