// In charge of: the examples in the documentation that need no service, and the index.
// Not in charge of: links (site.test.ts), examples that need the service (examples.test.ts, readme.test.ts).
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { publicEvent } from '#contract/api/answers.ts'
import { FAMILIES } from '#contract/api/metricFamilies.ts'
import { terminal } from '#contract/task/lifecycle.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { validatePreset } from '#contract/job/validatePreset.ts'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import { credentialFields } from '#contract/job/fields/credentials.ts'
import { publicFigures } from '#contract/api/publicStatus.ts'
import { spendCap } from '#contract/api/requestBodies.ts'
import { spendNoticePayload, webhookPayload } from '#contract/api/webhookMessage.ts'
import { parsePriceList, unitPrice } from '#contract/usage/priceList.ts'
import { jobRead } from '../../../scripts/openapi/examples.ts'
import { ROOT } from '../../../scripts/local/localSettings.ts'

const read = (path: string) => readFile(join(ROOT, path), 'utf8')
const FOLDERS = ['docs', 'docs/tutorials', 'docs/internals']
const listed = await Promise.all(
  FOLDERS.map(async (folder) => (await readdir(join(ROOT, folder))).map((name) => `${folder}/${name}`)),
)
const names = listed.flat().filter((name) => name.endsWith('.md'))
const pages = new Map<string, string>()
for (const name of ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...names])
  pages.set(name, await read(name))

interface Block {
  page: string
  language: string
  text: string
}

const blocks: Block[] = [...pages].flatMap(([page, text]) =>
  [...text.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)].map(([, language, block]) => ({
    page,
    language: language!,
    text: block!,
  })),
)

test('the pages name only scripts of npm that there are', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
  const named = [...pages.values()].flatMap((text) =>
    [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name]) => name!),
  )
  expect(named.length).toBeGreaterThan(10)
  expect([...new Set(named)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
})

describe('what docs/usage.md shows', () => {
  const [list, cap, message] = blocks.filter(({ page }) => page === 'docs/usage.md').map(({ text }) => text)

  it('is a price list that is accepted, with every class that it explains', () => {
    const prices = parsePriceList(/'''([^]*)'''/.exec(list!)![1]!)
    expect(prices).toMatchObject({ currency: 'EUR', others: { gb_out: 90_000 } })
    if ('problem' in prices) return
    const price = (usageClass: string) => unitPrice(prices, 'output_hours', usageClass) / 1e6
    expect(['1080p h264', '1080p hevc', '720p h264', 'audio aac', 'copy'].map(price)).toEqual([
      0.5, 0.8, 0.3, 0.05, 0.02,
    ])
  })

  it('is a cap that is accepted, and the webhook that is sent', () => {
    expect(spendCap.safeParse(JSON.parse(cap!)).success).toBe(true)
    const shown = JSON.parse(message!) as { timestamp: string; data: Record<string, unknown> }
    const { data } = shown
    const sent = spendNoticePayload({
      account: String(data['account']),
      month: String(data['month']),
      percent: Number(data['percent']),
      spendCap: Number(data['spend_cap']),
      spent: Number(data['spent']),
      currency: String(data['currency']),
      resetsAt: Date.parse(String(data['resets_at'])),
      reachedAt: Date.parse(shown.timestamp),
    })
    expect(JSON.parse(sent)).toEqual(shown)
  })
})

describe('what docs/api.md shows', () => {
  const [completed, event, progress, preset] = blocks
    .filter(({ page, language }) => page === 'docs/api.md' && language === 'json')
    .map(({ text }) => JSON.parse(text) as Record<string, unknown>)

  it('is the whole status of a job, as the OpenAPI document shows it', () => {
    expect(completed).toEqual({ status: jobRead.status })
  })

  it('is an event', () => {
    expect(publicEvent.safeParse(event)).toMatchObject({ success: true })
    expect(Object.keys(event!)).toEqual(Object.keys(publicEvent.shape))
  })

  it('is a preset', () => {
    expect(validatePreset(preset, { baseUrl: 'https://api.example.test' })).toMatchObject({ ok: true })
  })

  it('is a progress event', () => {
    expect(Object.keys(progress!)).toEqual(['phase', 'attempt', ...Object.keys(publicFigures(null, false))])
  })
})

test('docs/choose-outputs.md names every built-in preset', () => {
  for (const { preset_id: id } of builtInPresets) expect(pages.get('docs/choose-outputs.md')).toContain(`| \`${id}\``)
})

test('docs/webhooks.md shows a webhook', () => {
  const { text } = blocks.find(({ page, language }) => page === 'docs/webhooks.md' && language === 'json')!
  const output = { path: 'a', size: 1, sha256: '', content_type: '', profile: 0, role: 'media' }
  const sent = JSON.parse(
    webhookPayload('job.completed', {
      id: 7,
      jobId: '',
      state: 'completed',
      error: null,
      outputs: [output],
      retryOf: null,
      dryRun: false,
      metadata: { customer: '42' },
      createdAt: 0,
      finishedAt: 0,
    }),
  ) as { data: { outputs: object[] } }
  const shown = JSON.parse(text) as typeof sent
  expect(Object.keys(shown)).toEqual(Object.keys(sent))
  expect(Object.keys(shown.data)).toEqual(Object.keys(sent.data))
  expect(Object.keys(shown.data.outputs[0]!)).toEqual(Object.keys(sent.data.outputs[0]!))
})

test('docs/stores.md shows members that credentials have', () => {
  const shown = blocks.filter(({ page, language }) => page === 'docs/stores.md' && language === 'json')
  expect(shown.length).toBeGreaterThan(2)
  for (const { text } of shown)
    expect(Object.keys(JSON.parse(text) as object).filter((name) => !Object.hasOwn(credentialFields, name))).toEqual([])
})

test('docs/inputs.md shows sources and credentials that a job may have', () => {
  const shown = blocks.filter(({ page, language }) => page === 'docs/inputs.md' && language === 'json')
  expect(shown).toHaveLength(1)
  const body = {
    ...(JSON.parse(shown[0]!.text) as object),
    ladder: 'auto',
    audioProfiles: [1, 2].map((source_stream) => ({ source_stream })),
  }
  expect(validateJob(body, { baseUrl: 'https://api.example.test' })).toMatchObject({ ok: true, warnings: [] })
})

test('the pages name only metrics that /metrics has', () => {
  const known = new Set(Object.keys(FAMILIES).map((name) => `splicepoint_${name}`))
  const named = [...pages]
    .filter(([page]) => page !== 'CHANGELOG.md')
    .flatMap(([, text]) => [...text.matchAll(/`(splicepoint_\w+)`/g)].map(([, name]) => name!))
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

test('the index leads to every page', () => {
  expect(
    names.filter((name) => name !== 'docs/README.md' && !pages.get('docs/README.md')!.includes(`(${name.slice(5)})`)),
  ).toEqual([])
})

test('the diagram of states has the states and no other', () => {
  const diagram = blocks.find(({ text }) => text.startsWith('stateDiagram'))!.text
  const drawn = [...diagram.matchAll(/^ {2}(\w+|\[\*\]) --> (\w+|\[\*\])/gm)].flatMap(([, from, to]) => [from!, to!])
  expect(new Set(drawn.filter((name) => name !== '[*]'))).toEqual(new Set(Object.keys(terminal)))
})

test('every page has one heading of the first level, at its top', () => {
  for (const [page, text] of pages) {
    const heads = text.replaceAll(/^```[\s\S]*?^```$/gm, '').match(/^# .*$/gm) ?? []
    expect(heads.length, page).toBe(1)
    expect(text.trimStart().startsWith('# '), page).toBe(true)
  }
})
