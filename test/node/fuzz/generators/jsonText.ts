// In charge of: JSON as text, including text that no serializer writes: duplicate members, `__proto__`, invalid tokens.
// Not in charge of: which values (schemaValues.ts), the bytes that carry it (body.ts).
import * as fc from 'fast-check'
import { oddValue } from './schemaValues.ts'

/** A value that may be printed as invalid JSON. */
export type Node = { text: string } | { items: Node[] } | { members: [name: string, value: Node][] }

export function nodeOf(value: unknown): Node {
  if (Array.isArray(value)) return { items: value.map(nodeOf) }
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) ?? 'null' }
  return { members: Object.entries(value).map(([name, each]) => [name, nodeOf(each)]) }
}

export function print(node: Node): string {
  if ('text' in node) return node.text
  if ('items' in node) return `[${node.items.map(print).join(',')}]`
  return `{${node.members.map(([name, value]) => `${JSON.stringify(name)}:${print(value)}`).join(',')}}`
}

/** One change at the `at`-th position of all, counted from the front. */
export interface Change {
  at: number
  how:
    | { kind: 'value'; value: unknown }
    | { kind: 'token'; text: string }
    | { kind: 'nest'; depth: number; open: '[' | '{"a":' }
    | { kind: 'add'; name: string; value: unknown }
    | { kind: 'twice'; value: unknown }
    | { kind: 'drop' }
    | { kind: 'rename'; name: string }
    | { kind: 'wrap' }
}

/** Texts that are invalid JSON, or at the limit of it. */
const TOKENS = [
  ['NaN', 'Infinity', '-Infinity', 'undefined', '1e999', '-1e999', '1e-999', '-0', '0x10', '01', '1.', '.5', '+1'],
  ["'a'", '"\\x41"', '"\\ud800"', '"\\u0000"', '"a\nb"', '/**/1', '1,', '', '}', '{"a":1,}', '[1,]', 'True', 'nul'],
  ['9007199254740993', '123456789012345678901234567890', '0.1e1', '1E+2', '"\\uDBFF\\uDFFF"', '{"a":1}{"b":2}'],
].flat()

const NAMES = [
  ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '', ' ', 'a.b', 'a[0]', '$ref'],
  [
    'Input',
    'INPUT',
    'input ',
    'id',
    'account',
    'scopes',
    'config',
    'password',
    'x'.repeat(10_000),
    '\u0000',
    'é\u202e',
  ],
].flat()

const name = fc.oneof({ arbitrary: fc.constantFrom(...NAMES), weight: 3 }, fc.string({ maxLength: 8, unit: 'binary' }))

const how: fc.Arbitrary<Change['how']> = fc.oneof(
  { arbitrary: oddValue.map((value) => ({ kind: 'value' as const, value })), weight: 8 },
  { arbitrary: fc.constantFrom(...TOKENS).map((text) => ({ kind: 'token' as const, text })), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant('nest' as const),
      depth: fc.constantFrom(1, 15, 16, 17, 100, 5000, 60_000),
      open: fc.constantFrom('[' as const, '{"a":' as const),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ kind: fc.constant('add' as const), name, value: oddValue }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant('twice' as const), value: oddValue }), weight: 2 },
  { arbitrary: fc.constant({ kind: 'drop' as const }), weight: 2 },
  { arbitrary: name.map((name) => ({ kind: 'rename' as const, name })), weight: 1 },
  { arbitrary: fc.constant({ kind: 'wrap' as const }), weight: 1 },
)

export const change: fc.Arbitrary<Change> = fc.record({ at: fc.nat({ max: 60 }), how })

interface Place {
  node: Node
  put: (node: Node) => void
  /** The object that contains it, and its position there. */
  parent: { members: [string, Node][] } | null
  index: number
}

function places(root: { node: Node }): Place[] {
  const all: Place[] = []
  const visit = (node: Node, put: Place['put'], parent: Place['parent'], index: number): void => {
    all.push({ node, put, parent, index })
    if ('items' in node) node.items.forEach((each, i) => visit(each, (other) => (node.items[i] = other), null, i))
    if ('members' in node)
      node.members.forEach((each, i) => visit(each[1], (other) => (each[1] = other), { members: node.members }, i))
  }
  visit(root.node, (node) => (root.node = node), null, 0)
  return all
}

/** The value after all changes, applied in order. */
export function changed(value: unknown, changes: readonly Change[]): Node {
  const root = { node: nodeOf(value) }
  for (const { at, how } of changes) {
    const all = places(root)
    const place = all[at % all.length]!
    const { node, put, parent, index } = place
    switch (how.kind) {
      case 'value':
        put(nodeOf(how.value))
        break
      case 'token':
        put({ text: how.text })
        break
      case 'nest':
        put({ text: how.open.repeat(how.depth) + '1' + (how.open === '[' ? ']' : '}').repeat(how.depth) })
        break
      case 'add':
        if ('members' in node) node.members.push([how.name, nodeOf(how.value)])
        else if ('items' in node) node.items.push(nodeOf(how.value))
        else put({ members: [[how.name, nodeOf(how.value)]] })
        break
      case 'twice':
        // The last of two equal names wins (ECMA-262, JSON.parse).
        if (parent) parent.members.push([parent.members[index]![0], nodeOf(how.value)])
        break
      case 'drop':
        if (parent) parent.members.splice(index, 1)
        break
      case 'rename':
        if (parent) parent.members[index] = [how.name, node]
        break
      case 'wrap':
        put({ items: [node] })
        break
    }
  }
  return root.node
}
