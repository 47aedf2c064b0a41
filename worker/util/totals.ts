// In charge of: collecting increments of counters and histograms as series with whole numbers, which can be added up in
// any order.
// Not in charge of: where they are added up (db/metricTotals.ts).
import {
  FAMILIES,
  isInMilliseconds,
  type CounterName,
  type HistogramName,
  type LabelsOf,
} from '#contract/api/metricFamilies.ts'

/** Series, such as `jobs_ended_total{state="failed"}`, and its increment. */
export type Series = Record<string, number>

/**
 * The series of a histogram are `<name>_sum` in milliseconds, and `<name>_bucket` with the label `le`: not cumulative,
 * so that one observation adds to two series, whatever the number of buckets.
 */
export class Totals {
  readonly #series = new Map<string, number>()

  add<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by = 1): this {
    this.#increase(name, labels, isInMilliseconds(name) ? by * 1000 : by)
    return this
  }

  /** @param seconds below 0 = 0: clocks of different machines */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): this {
    const value = Math.max(0, seconds)
    const bucket = FAMILIES[name].buckets.find((bound) => value <= bound)
    this.#increase(`${name}_bucket`, { ...labels, le: bucket === undefined ? '+Inf' : String(bucket) }, 1)
    this.#increase(`${name}_sum`, labels, value * 1000)
    return this
  }

  addAll(series: Series): void {
    for (const [name, by] of Object.entries(series)) this.#series.set(name, (this.#series.get(name) ?? 0) + by)
  }

  get isEmpty(): boolean {
    return this.#series.size === 0
  }

  /** In the order of their names, as the database returns them. */
  get series(): Series {
    return Object.fromEntries([...this.#series].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  #increase(name: string, labels: Readonly<Record<string, string>>, by: number): void {
    if (!Number.isFinite(by)) return
    const text = Object.entries(labels).map(([label, value]) => `${label}="${labelValue(value)}"`)
    const series = text.length > 0 ? `${name}{${text.join(',')}}` : name
    this.#series.set(series, (this.#series.get(series) ?? 0) + Math.round(by))
  }
}

/** All values are names of this service; any other character would have to be escaped. */
const labelValue = (value: string): string => value.replaceAll(/[^\w.:/*+{}|[\]-]/g, '_').slice(0, 100)
