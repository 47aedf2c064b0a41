// In charge of: writing XML that is well-formed for any values.
// Not in charge of: choosing the elements.

export interface Xml {
  name: string
  attributes: Record<string, string | number | boolean | null>
  /** Child elements, or the text of an element without children. */
  content: Xml[] | string
}

/** Attributes with the value null are omitted. */
export function element(name: string, attributes: Xml['attributes'], content: Xml['content'] = []): Xml {
  return { name, attributes, content }
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Throws for control characters, which XML 1.0 cannot represent. */
function escape(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- XML 1.0, 2.2: not even as references
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(text)) throw new Error('XML cannot hold this text.')
  return text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign]!)
}

/** A document in UTF-8, indented by two spaces. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${serialize(root, '')}`
}

function serialize({ name, attributes, content }: Xml, indent: string): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${escape(String(value))}"`)
    .join('')
  const open = `${indent}<${name}${list}`
  if (content.length === 0) return `${open}/>\n`
  if (typeof content === 'string') return `${open}>${escape(content)}</${name}>\n`
  return `${open}>\n${content.map((child) => serialize(child, `${indent}  `)).join('')}${indent}</${name}>\n`
}
