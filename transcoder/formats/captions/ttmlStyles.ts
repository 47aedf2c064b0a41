// In charge of: the styles and regions of TTML that WebVTT can express too.
// Not in charge of: reading the document (ttmlReader.ts).
import type { CuePlace } from './captionCue.ts'

/** Values by the name of the attribute without its prefix. */
export type TtmlStyle = Readonly<Record<string, string>>

/** Attributes in a namespace of styling that are read. */
const STYLES = new Set(
  'fontStyle fontWeight textDecoration textAlign display visibility origin extent displayAlign writingMode ruby backgroundImage'.split(
    ' ',
  ),
)

export interface TtmlElement {
  name: string
  /** By name without prefix; those of styling, and all others. */
  styles: TtmlStyle
  attributes: Readonly<Record<string, string>>
}

export function isStyleName(name: string): boolean {
  return STYLES.has(name)
}

/** References of one style, and of styles to each other: more than any program writes. */
const MOST_REFERENCES = 8
const MOST_LEVELS = 8

/** Styles by id, with those that they refer to. A style that refers to itself ends the chain. */
export class StyleSheet {
  readonly #styles = new Map<string, { own: TtmlStyle; refers: string[] }>()
  /** By id and level: each is resolved once, whatever refers to it. */
  readonly #resolved = new Map<string, TtmlStyle>()
  readonly #regions = new Map<string, TtmlStyle>()

  addStyle(id: string, own: TtmlStyle, refers: string[]): void {
    this.#styles.set(id, { own, refers })
    for (let level = 1; level <= MOST_LEVELS + 1; level += 1) this.#resolved.delete(`${level} ${id}`)
  }

  addRegion(id: string, style: TtmlStyle): void {
    this.#regions.set(id, { ...this.#regions.get(id), ...style })
  }

  region(id: string | undefined): TtmlStyle | undefined {
    return id === undefined ? undefined : this.#regions.get(id)
  }

  /** An element's own attributes come before those of the styles that it refers to (10.4.4.2). */
  resolve(own: TtmlStyle, refers: readonly string[], level = 0): TtmlStyle {
    if (level > MOST_LEVELS || refers.length === 0) return own
    const inherited = refers.slice(0, MOST_REFERENCES).map((id) => this.#styleOf(id, level + 1))
    return Object.assign({}, ...inherited, own) as TtmlStyle
  }

  #styleOf(id: string, level: number): TtmlStyle {
    const style = this.#styles.get(id)
    if (style === undefined) return {}
    const key = `${level} ${id}`
    const resolved = this.#resolved.get(key) ?? this.resolve(style.own, style.refers, level)
    this.#resolved.set(key, resolved)
    return resolved
  }
}

interface RootSize {
  /** Pixels; null = not stated. */
  pixels: [number, number] | null
  cells: [number, number]
}

export function placeOfRegion(region: TtmlStyle | undefined, textAlign: string | undefined, root: RootSize): CuePlace {
  const align = alignOf(textAlign)
  if (region === undefined) return align === undefined ? {} : { align }
  const place: CuePlace = {}
  const origin = pair(region['origin'], root)
  const extent = pair(region['extent'], root)
  const vertical = verticalOf(region['writingMode'])
  if (vertical !== undefined) return { vertical, ...(align !== undefined && { align }) }
  if (origin === null || extent === null) return { align: align ?? 'start' }
  const [x, y] = origin
  const [width, height] = extent
  const line = { before: y, center: y + height / 2, after: y + height }
  const anchor = { before: 'start', center: 'center', after: 'end' } as const
  const displayAlign = region['displayAlign']
  const edge = displayAlign === 'after' || displayAlign === 'center' ? displayAlign : 'before'
  place.line = { percent: clamp(line[edge]), anchor: anchor[edge] }
  const side = align === 'center' ? 'center' : align === 'end' || align === 'right' ? 'line-right' : 'line-left'
  const across = { 'line-left': x, center: x + width / 2, 'line-right': x + width }
  place.position = { percent: clamp(across[side]), anchor: side }
  place.size = clamp(width)
  place.align = align ?? 'start'
  return place
}

function alignOf(value: string | undefined): CuePlace['align'] {
  return value === 'start' || value === 'center' || value === 'end' || value === 'left' || value === 'right'
    ? value
    : undefined
}

function verticalOf(mode: string | undefined): CuePlace['vertical'] {
  return mode === 'tbrl' || mode === 'tb' ? 'rl' : mode === 'tblr' ? 'lr' : undefined
}

const LENGTH = /^(-?\d{1,6}(?:\.\d{1,6})?)(%|px|c)$/

/** Percent of the root's width and height; null = not stated, or in a unit of unknown size. */
function pair(value: string | undefined, { pixels, cells }: RootSize): [number, number] | null {
  const parts = (value ?? '').trim().split(/\s+/)
  const lengths = parts.map((part, at) => {
    const [, number, unit] = LENGTH.exec(part) ?? []
    if (number === undefined || at > 1) return null
    const whole = unit === 'px' ? pixels?.[at] : unit === 'c' ? cells[at] : 100
    return whole === undefined || whole <= 0 ? null : (Number(number) * 100) / whole
  })
  const [first, second] = lengths
  return first == null || second == null || lengths.length !== 2 ? null : [first, second]
}

function clamp(percent: number): number {
  return Math.min(100, Math.max(0, percent))
}
