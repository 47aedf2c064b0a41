// In charge of: the cost of a first visit of each page: first and largest contentful paint, layout shift, script size,
// requests. Measured in a headless Chromium on this machine, without cache and without network latency.
import { gzipSync } from 'node:zlib'
import { chromium, type Browser } from 'playwright-core'
import { findChromium, CHROMIUM_FLAGS } from '../../scripts/chromium.ts'
import { startService, type BenchService } from '../benchService.ts'
import type { BenchOptions, Row } from '../table.ts'

const RUNS = 5
/** Goal for script in kB, compressed, before playback starts. */
const GOAL_KB = 100
const PAGES = [
  ['Sign in', '/', false],
  ['Jobs', '/', true],
  ['Create job', '/new', true],
  ['API reference', '/docs', false],
] as const

interface Visit {
  /** Milliseconds since the navigation began (https://www.w3.org/TR/paint-timing/). */
  firstPaint: number
  largestPaint: number
  layoutShift: number
  /** Compressed bytes (gzip). */
  script: number
  requests: number
}

const OBSERVE = `
  globalThis.seen = { largest: 0, shift: 0 }
  new PerformanceObserver((list) => { for (const { startTime } of list.getEntries()) seen.largest = startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })
  new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) seen.shift += value })
    .observe({ type: 'layout-shift', buffered: true })
`

async function visit(
  browser: Browser,
  { baseUrl, apiKey }: BenchService,
  path: string,
  signedIn: boolean,
): Promise<Visit> {
  const context = await browser.newContext()
  try {
    await context.addInitScript(OBSERVE)
    if (signedIn) await context.addInitScript(`sessionStorage.setItem('splicepoint.key', ${JSON.stringify(apiKey)})`)
    const page = await context.newPage()
    const scripts: Promise<Buffer>[] = []
    let requests = 0
    page.on('response', (response) => {
      requests += 1
      if (response.request().resourceType() === 'script') scripts.push(response.body())
    })
    await page.goto(baseUrl + path, { waitUntil: 'networkidle' })
    const seen = await page.evaluate<{ first: number; largest: number; shift: number }>(
      `({ ...seen, first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN })`,
    )
    const bytes = (await Promise.all(scripts)).reduce((sum, body) => sum + gzipSync(body).length, 0)
    return {
      firstPaint: seen.first,
      largestPaint: seen.largest,
      layoutShift: seen.shift,
      script: bytes,
      requests,
    }
  } finally {
    await context.close()
  }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

export async function pages({ runs, note }: BenchOptions): Promise<Row[]> {
  const path = await findChromium()
  if (path === null) throw new Error('no Chromium here; name one in CHROMIUM_PATH')
  await using service = await startService()
  const browser = await chromium.launch({ executablePath: path, args: CHROMIUM_FLAGS })
  try {
    const visits = new Map<string, Visit[]>(PAGES.map(([name]) => [name, []]))
    for (let run = 0; run < (runs ?? RUNS); run++) {
      for (const [name, address, signedIn] of PAGES) {
        visits.get(name)?.push(await visit(browser, service, address, signedIn))
      }
    }
    return [...visits].map(([name, all]) => {
      const [first, largest] = [median(all.map((one) => one.firstPaint)), median(all.map((one) => one.largestPaint))]
      const script = Math.max(...all.map((one) => one.script)) / 1000
      const shift = Math.max(...all.map((one) => one.layoutShift))
      note(`${name}: layout shift ${shift.toFixed(3)}, ${all[0]?.requests ?? 0} requests`)
      return {
        name: `Page "${name}": first paint, largest paint, script compressed`,
        ours: `${first.toFixed(0)} ms, ${largest.toFixed(0)} ms, ${script.toFixed(1)} kB`,
        baseline: '–',
        ratio: null,
        goal: `script ≤ ${GOAL_KB} kB`,
        goalMet: script <= GOAL_KB,
      }
    })
  } finally {
    await browser.close()
  }
}
