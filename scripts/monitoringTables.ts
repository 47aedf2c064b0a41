// In charge of: the tables of docs/monitoring.md that are computed: the metrics from contract/api/metricFamilies.ts, the
// costs from the figures of docs/internals/performance.md and the price list.
// Not in charge of: writing the page (generateReference.ts).
import { listMachine, listPrices } from '../transcoder/plan/estimate/costConstants.ts'
import { FAMILIES, PREFIX, type FamilyName } from '#contract/api/metricFamilies.ts'

/** Each table is between `<!-- name: npm run fix -->` and `<!-- end of name -->`. */
export function withMonitoringTables(page: string, performance: string): string {
  const tables = { metrics: metricsTable(), costs: costsTable(performance) }
  return Object.entries(tables).reduce((text, [name, table]) => {
    const begin = `<!-- ${name}: npm run fix -->`
    const end = `<!-- end of ${name} -->`
    const [before, rest] = text.split(begin)
    const after = rest?.split(end)[1]
    if (before === undefined || after === undefined) throw new Error(`docs/monitoring.md has lost its mark "${begin}".`)
    return `${before}${begin}\n\n${table}\n\n${end}${after}`
  }, page)
}

/** Without what a formatter changes: the widths of columns. */
export const tableText = (page: string): string => page.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---')

function metricsTable(): string {
  const rows = (Object.keys(FAMILIES) as FamilyName[]).map((name) => {
    const { type, labels, help } = FAMILIES[name]
    return `| \`${PREFIX}${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`
  })
  return ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

interface Workload {
  name: string
  /** Its rows in docs/internals/performance.md. */
  row: string
  /** Seconds of the source that was measured. */
  sourceSeconds: number
  /** Writes to the store for an hour of source. */
  writesPerHour: number
  /** Gigabytes of all renditions together, for an hour of source. */
  gigabytesPerHour: number
}

const HOUR = 3600
const PART_BYTES = 8 * 1024 * 1024
/** Bytes of an hour of a stream with this bitrate. */
const bytesOfHour = (kbps: number): number => (kbps * 1000 * HOUR) / 8

/** Bitrates of bench/rows: three files with one stereo AAC of 128 kbps each; four renditions and one audio. */
const ladderKbps = 5000 + 2800 + 800 + 3 * 128
const segmentedKbps = 5000 + 2800 + 1400 + 800 + 128
const WORKLOADS: readonly Workload[] = [
  {
    name: 'three mp4 files (1080p, 720p, 360p)',
    row: 'three-rung ladder of 30 s, CPU, against a plain command',
    sourceSeconds: 30,
    writesPerHour: bytesOfHour(ladderKbps) / PART_BYTES,
    gigabytesPerHour: bytesOfHour(ladderKbps) / 1e9,
  },
  {
    name: 'HLS and DASH, four renditions (1080p to 360p), segments of 6 s',
    row: 'four-rung HLS and DASH of 30 s, CPU, against a plain command',
    sourceSeconds: 30,
    writesPerHour: (5 * HOUR) / 6,
    gigabytesPerHour: bytesOfHour(segmentedKbps) / 1e9,
  },
]

/** Share of its cores that an encode keeps busy, of a container with four. */
export const CORE_USE = 0.85
export const CORES = 4

export interface Cost {
  cpuSeconds: number
  wallSeconds: number
  usd: number
}

/** Cost of one second of source. */
export function costPerSecond(cpuSeconds: number, writes: number): Cost {
  const wallSeconds = cpuSeconds / (CORES * CORE_USE)
  const usd =
    cpuSeconds * listPrices.vcpu_second +
    wallSeconds *
      (listMachine.memory_gib * listPrices.memory_gib_second + listMachine.disk_gb * listPrices.disk_gb_second) +
    (writes * listPrices.store_writes_per_million) / 1e6
  return { cpuSeconds, wallSeconds, usd }
}

function costsTable(performance: string): string {
  const rows = WORKLOADS.map(({ name, row, sourceSeconds, writesPerHour, gigabytesPerHour }) => {
    const measured = performance.split('\n').find((line) => line.startsWith(`| ${row} `))
    const seconds = Number(/^\| [^|]+\| ([\d.]+) s /.exec(measured ?? '')?.[1] ?? NaN)
    if (Number.isNaN(seconds)) throw new Error(`docs/internals/performance.md has no row "${row}".`)
    const { cpuSeconds, wallSeconds, usd } = costPerSecond(seconds / sourceSeconds, writesPerHour / HOUR)
    const perHour = usd * HOUR
    const cells = [
      name,
      cpuSeconds.toFixed(2),
      `${Math.round(wallSeconds * 60)} min`,
      `$${perHour.toFixed(2)}`,
      `$${(perHour * 30).toFixed(2)}`,
      String(Math.floor(24 / wallSeconds)),
      `${gigabytesPerHour.toFixed(1)} GB`,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [
    '| an hour of 1080p as | CPU seconds per second of source | one slot needs | cost of the hour | one hour a day, per month | hours a day that one slot can do | stored per hour of source |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}
