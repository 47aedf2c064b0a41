// In charge of: the text format of Prometheus 0.0.4.
// Not in charge of: reading the values (service/metricsRoutes.ts).
import {
  FAMILIES,
  isInMilliseconds,
  PREFIX,
  type CounterName,
  type FamilyName,
  type GaugeName,
  type LabelsOf,
} from '#contract/api/metricFamilies.ts'
import type { Series } from '../util/totals.ts'
import { startFailureMessages } from '#contract/api/events.ts'
import { jobErrorPolicies } from '#contract/errorCodes.ts'

const each = <Label extends string>(label: Label, values: readonly string[]) =>
  values.map((value) => ({ [label]: value }) as Record<Label, string>)

const kinds = ['transcode', 'dry_run']
const errorCodes = Object.keys(jobErrorPolicies)

const INITIAL_SERIES: { [Name in CounterName]?: LabelsOf<Name>[] } = {
  jobs_ended_total: kinds.flatMap((kind) => [
    { kind, state: 'completed', code: '' },
    { kind, state: 'cancelled', code: '' },
    ...errorCodes.map((code) => ({ kind, state: 'failed', code })),
  ]),
  attempts_started_total: each('kind', [...kinds, 'part']),
  attempts_lost_total: each('cause', ['transcoder_lost', 'evicted', ...errorCodes]),
  attempts_evicted_total: [{}],
  starts_failed_total: each('reason', Object.keys(startFailureMessages)),
  transcoder_cpu_seconds_total: each('outcome', ['finished', 'failed', 'lost', 'evicted', 'cancelled']),
  source_seconds_total: [{}],
  output_seconds_total: each('resolution', ['audio', 'sd', 'hd', 'uhd']),
  source_read_bytes_total: [{}],
  uploaded_bytes_total: [{}],
  store_errors_total: errorCodes.flatMap((code) => ['input', 'output'].map((side) => ({ side, code }))),
  jobs_refused_total: each('reason', ['spend_cap', 'active_jobs']),
  webhook_tries_total: each('result', ['delivered', 'postponed', 'failed']),
}

export type Gauges = { [Name in GaugeName]: [labels: LabelsOf<Name>, value: number][] }

export function metricsText(gauges: Gauges, totals: Series): string {
  const lines: string[] = []
  for (const name of Object.keys(FAMILIES) as FamilyName[]) {
    const { type, help } = FAMILIES[name]
    lines.push(`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`)
    if (type === 'gauge') {
      for (const [labels, value] of gauges[name as GaugeName])
        lines.push(`${PREFIX}${name}${labelText(Object.entries(labels))} ${value}`)
    } else if (type === 'counter') {
      const scale = isInMilliseconds(name) ? 1000 : 1
      const initial = INITIAL_SERIES[name as CounterName]?.map((labels) => [
        name + labelText(Object.entries(labels)),
        0,
      ])
      const series = { ...(Object.fromEntries(initial ?? []) as Series), ...totals }
      for (const [labels, value] of seriesOf(name, series)) lines.push(`${PREFIX}${name}${labels} ${value / scale}`)
    } else lines.push(...histogramLines(name, totals))
  }
  return `${lines.join('\n')}\n`
}

function labelText(labels: readonly [name: string, value: string][]): string {
  const text = labels.map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, '_')}"`)
  return text.length > 0 ? `{${text.join(',')}}` : ''
}

/** Labels, in braces, and value. */
function seriesOf(name: string, totals: Series): [labels: string, value: number][] {
  return Object.entries(totals)
    .filter(([series]) => series === name || series.startsWith(`${name}{`))
    .map(([series, value]) => [series.slice(name.length), value])
}

function histogramLines(name: FamilyName, totals: Series): string[] {
  const family = FAMILIES[name]
  const bounds = [...('buckets' in family ? family.buckets : []).map(String), '+Inf']
  return seriesOf(`${name}_sum`, totals).flatMap(([labels, sum]) => {
    const within = labels === '' ? '' : `${labels.slice(1, -1)},`
    let count = 0
    const buckets = bounds.map((le) => {
      const label = `{${within}le="${le}"}`
      count += totals[`${name}_bucket${label}`] ?? 0
      return `${PREFIX}${name}_bucket${label} ${count}`
    })
    return [...buckets, `${PREFIX}${name}_sum${labels} ${sum / 1000}`, `${PREFIX}${name}_count${labels} ${count}`]
  })
}
