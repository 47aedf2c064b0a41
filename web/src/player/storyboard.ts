// In charge of: the images of the seek bar: loading and parsing their WebVTT, and finding the image of a moment.

export interface Tile {
  start: number
  end: number
  /** Address of the sprite sheet. */
  url: string
  x: number
  y: number
  width: number
  height: number
}

const TIME = String.raw`(?:(\d+):)?(\d\d):(\d\d)\.(\d{3})`
const TIMING = new RegExp(`^${TIME}[ \\t]+-->[ \\t]+${TIME}`)

/** @param base the address of the WebVTT file, to which the sheet addresses are relative */
export function parseStoryboard(text: string, base: string): Tile[] {
  const tiles: Tile[] = []
  for (const block of text.split(/\r?\n[ \t]*\r?\n/)) {
    const lines = block.split(/\r?\n/)
    const at = lines.findIndex((line) => TIMING.test(line))
    const timing = TIMING.exec(lines[at] ?? '')
    const [address = '', fragment = ''] = (lines[at + 1] ?? '').trim().split('#')
    const area = /^xywh=(?:pixel:)?(\d+),(\d+),(\d+),(\d+)$/.exec(fragment)
    if (!timing || !area || address === '') continue
    const seconds = (from: number) =>
      Number(timing[from] ?? 0) * 3600 +
      Number(timing[from + 1]) * 60 +
      Number(timing[from + 2]) +
      Number(timing[from + 3]) / 1000
    const [x = 0, y = 0, width = 0, height = 0] = area.slice(1).map(Number)
    if (width === 0 || height === 0) continue
    tiles.push({ start: seconds(1), end: seconds(5), url: new URL(address, base).href, x, y, width, height })
  }
  return tiles.toSorted((a, b) => a.start - b.start)
}

/** The image of a moment; the last image also covers everything after it. */
export function tileAt(tiles: readonly Tile[], seconds: number): Tile | null {
  return tiles.findLast(({ start }) => start <= seconds) ?? tiles[0] ?? null
}

/** Without it the seek bar shows only times, so a failure is not reported to the viewer. */
export async function loadStoryboard(address: string, signal: AbortSignal): Promise<Tile[]> {
  try {
    const response = await fetch(address, { credentials: 'omit', signal })
    return response.ok ? parseStoryboard(await response.text(), response.url || address) : []
  } catch {
    return []
  }
}
