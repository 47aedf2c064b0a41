// In charge of: deploy/monitoring, and the text of /metrics, judged by Prometheus's own tools.
// Not in charge of: what is counted (test/worker/metrics).
import { execFile, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { FAMILIES, PREFIX, type FamilyName } from '#contract/api/metricFamilies.ts'
import { metricsText, type Gauges } from '../../../worker/metrics/metricsText.ts'
import { Totals } from '../../../worker/util/totals.ts'
import { skipTest } from '../../support/requirement.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'
import { missingPrograms, SYSTEM_PYTHON } from '../validators/installedPrograms.ts'

const run = promisify(execFile)
const DIRECTORY = join(ROOT, 'deploy/monitoring')
const alerts = await readFile(join(DIRECTORY, 'alerts.yaml'), 'utf8')
const alertTests = await readFile(join(DIRECTORY, 'alerts.test.yaml'), 'utf8')
const dashboard = JSON.parse(await readFile(join(DIRECTORY, 'dashboard.json'), 'utf8')) as Dashboard
const temp = useTempDirectory()

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { h: number; w: number; x: number; y: number }
  targets?: { refId: string; expr: string }[]
}
interface Dashboard {
  uid: string
  title: string
  schemaVersion: number
  panels: Panel[]
  templating: { list: { name: string }[] }
}

const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** Series by the names that Prometheus has for them, with their labels. */
const known = new Map(
  (Object.keys(FAMILIES) as FamilyName[]).flatMap((name): [string, readonly string[]][] => {
    const { type, labels } = FAMILIES[name]
    if (type !== 'histogram') return [[PREFIX + name, labels]]
    return [
      [`${PREFIX}${name}_bucket`, [...labels, 'le']],
      [`${PREFIX}${name}_sum`, labels],
      [`${PREFIX}${name}_count`, labels],
    ]
  }),
)

/** Names of metrics that do not exist, and labels that a metric does not have. */
function unknownIn(promql: string): string[] {
  return [...promql.matchAll(/\bsplicepoint_\w+(?:\{([^}]*)\})?/g)].flatMap(([whole, matchers = '']) => {
    const name = whole.replace(/\{.*/, '')
    const labels = known.get(name)
    if (labels === undefined) return [name]
    const used = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!)
    return used.filter((label) => label !== 'instance' && !labels.includes(label)).map((label) => `${name}{${label}}`)
  })
}

/** One value for each gauge and counter, two for each histogram. */
function exampleText(): string {
  const gauges = Object.fromEntries(
    Object.entries(FAMILIES)
      .filter(([, { type }]) => type === 'gauge')
      .map(([name, { labels }]) => [name, [[Object.fromEntries(labels.map((label) => [label, 'x'])), 1.5]]]),
  ) as unknown as Gauges
  const totals = new Totals()
  for (const [name, { type, labels }] of Object.entries(FAMILIES)) {
    const values = Object.fromEntries(labels.map((label) => [label, 'a/b:c']))
    if (type === 'counter') totals.add(name as never, values, 3)
    if (type === 'histogram') for (const seconds of [0.2, 1e6]) totals.observe(name as never, values, seconds)
  }
  return metricsText(gauges, totals.series)
}

async function promtool(args: string[], input?: string): Promise<string> {
  const child = spawn('promtool', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(input)
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return out + errors
}

test('promtool finds nothing to criticise in the names, types and help texts', async (context) => {
  const missing = missingPrograms('promtool')
  if (missing !== null) skipTest(context, missing)
  expect(await promtool(['check', 'metrics'], exampleText())).toBe('')
  // The judge judges.
  expect(await promtool(['check', 'metrics'], '# TYPE x counter\nx 1\n')).toContain('counter metrics should have')
})

test('another parser reads the same values, and histograms are cumulative', async (context) => {
  const missing = missingPrograms(SYSTEM_PYTHON)
  if (missing !== null) skipTest(context, missing)
  const program = `import json, sys
from prometheus_client.parser import text_string_to_metric_families as read
print(json.dumps([[f.name, f.type, [[s.name, s.labels, s.value] for s in f.samples]] for f in read(sys.stdin.read())]))`
  const child = spawn(SYSTEM_PYTHON, ['-c', program], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(exampleText())
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (errors.includes('ModuleNotFoundError')) skipTest(context, 'python3-prometheus-client is not installed')
  expect(errors).toBe('')
  const families = JSON.parse(out) as [string, string, [string, Record<string, string>, number][]][]
  expect(families.map(([, type]) => type)).toEqual(Object.values(FAMILIES).map(({ type }) => type))
  const [, , samples] = families.find(([name]) => name === 'splicepoint_job_phase_seconds')!
  const buckets = samples.filter(([name]) => name.endsWith('_bucket')).map(([, { le }, value]) => [le, value])
  expect(buckets[0]).toEqual(['1', 1])
  expect(buckets.at(-2)).toEqual(['28800', 1])
  expect(buckets.at(-1)).toEqual(['+Inf', 2])
  expect(samples.filter(([name]) => !name.endsWith('_bucket')).map(([, , value]) => value)).toEqual([1_000_000.2, 2])
})

test('every injected fault raises its alert, and every alert has such a test', async (context) => {
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) expect(alertTests, name).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`))
  const missing = missingPrograms('promtool')
  if (missing !== null) skipTest(context, missing)
  expect(await promtool(['check', 'rules', join(DIRECTORY, 'alerts.yaml')])).toContain(`SUCCESS: ${names.length} rules`)
  expect(await promtool(['test', 'rules', join(DIRECTORY, 'alerts.test.yaml')])).toContain('SUCCESS')
  // The judge judges: a rule with another threshold fails its test.
  await writeFile(
    join(temp.path, 'alerts.yaml'),
    alerts.replace('splicepoint_queue_age_seconds > 1800', 'splicepoint_queue_age_seconds > 9999'),
  )
  await writeFile(join(temp.path, 'alerts.test.yaml'), alertTests)
  expect(await promtool(['test', 'rules', join(temp.path, 'alerts.test.yaml')])).toContain('FAILED')
})

test('the configuration of the scraper is one that Prometheus accepts', async (context) => {
  const missing = missingPrograms('promtool')
  if (missing !== null) skipTest(context, missing)
  expect(await promtool(['check', 'config', join(DIRECTORY, 'prometheus.yaml')])).toContain('SUCCESS')
})

test('alerts and dashboard use metrics and labels that exist', () => {
  expect(unknownIn('splicepoint_nothing + splicepoint_slots{colour="red"}')).toEqual([
    'splicepoint_nothing',
    'splicepoint_slots{colour}',
  ])
  expect(unknownIn(alerts)).toEqual([])
  expect(unknownIn(expressions.join('\n'))).toEqual([])
  // Each metric is on the dashboard.
  const shown = expressions.join('\n')
  expect((Object.keys(FAMILIES) as FamilyName[]).filter((name) => !shown.includes(PREFIX + name))).toEqual([])
})

test('the dashboard is one that Grafana can import: unique ids, no overlap, all queries are PromQL', async (context) => {
  const { panels, templating, uid, schemaVersion } = dashboard
  expect([uid, schemaVersion]).toEqual(['splicepoint', 39])
  expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance'])
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const taken = new Map<string, string>()
  for (const { title, gridPos, targets = [], type } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.get(`${x} ${y}`), title).toBeUndefined()
        taken.set(`${x} ${y}`, title)
      }
    expect(targets.length > 0, title).toBe(type !== 'row')
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
  }
  const missing = missingPrograms('promtool')
  if (missing !== null) skipTest(context, missing)
  const rules = expressions.map((expr, index) => ({
    record: `dashboard:query_${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
  }))
  const path = join(temp.path, 'dashboard.yaml')
  await writeFile(path, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  expect((await run('promtool', ['check', 'rules', path])).stdout).toContain(`SUCCESS: ${expressions.length} rules`)
})
