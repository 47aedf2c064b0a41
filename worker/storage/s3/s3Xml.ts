// In charge of: parsing the small XML answers of S3-compatible stores (elements, text, entities) and writing request
// bodies.
// Not in charge of: XML in general. Attributes are skipped; DTDs, which such answers never have, are an error.

export interface XmlElement {
  /** Without a namespace prefix. */
  name: string
  children: XmlElement[]
  /** Direct text of this element, entities resolved. */
  text: string
}

/** Deeper than any store's answer; limits hostile ones. */
const MAX_DEPTH = 16

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** The root element, or null if the text is not well-formed XML. */
export function parseXml(text: string): XmlElement | null {
  const root: XmlElement = { name: '', children: [], text: '' }
  const open: XmlElement[] = [root]
  // Comments, CDATA, declarations, tags, text: one alternative each, so that every character is read once. A name ends where
  // attributes may begin: with two ways to divide a tag between them, one that never ends would take quadratic time.
  const token =
    /<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<\?[^]*?\?>|<(\/?)([^\s<>/!?]+)(?=[\s/>])((?:[^<>"']|"[^"]*"|'[^']*')*)>|([^<]+)/gy
  let at = 0
  for (let found = token.exec(text); found; found = token.exec(text)) {
    at = token.lastIndex
    const [, cdata, slash, tag, attributes, plain] = found
    const top = open.at(-1)!
    if (cdata !== undefined) top.text += cdata
    else if (plain !== undefined) top.text += unescapeXml(plain)
    else if (tag !== undefined) {
      const name = tag.slice(tag.indexOf(':') + 1)
      if (slash === '/') {
        if (open.length === 1 || top.name !== name) return null
        open.pop()
        continue
      }
      const element: XmlElement = { name, children: [], text: '' }
      top.children.push(element)
      if (!attributes!.endsWith('/')) open.push(element)
      if (open.length > MAX_DEPTH) return null
    }
  }
  const [first, ...more] = root.children
  return at === text.length && open.length === 1 && first && more.length === 0 ? first : null
}

/** Text of the element at a path below `element`, or null. */
export function elementText(element: XmlElement | null, ...path: string[]): string | null {
  let here = element
  for (const name of path) here = here?.children.find((child) => child.name === name) ?? null
  return here === null ? null : here.text.trim()
}

export function childElements(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name)
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name as string] ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
