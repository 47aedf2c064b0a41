// Independent programs read the outputs of representative jobs; each finding is a fault unless acceptedFindings.ts says
// why not. Their full output is written to a folder: VALIDATOR_REPORTS, or dist/validators.
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../../support/longForm.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { ROOT, Service } from '../../support/service.ts'
import { ALL_VALIDATORS } from './allValidators.ts'
import { ACCEPTED_FINDINGS, unacceptedFindings, unusedAcceptances, type AcceptedFinding } from './acceptedFindings.ts'
import type { JobName } from './validatedJobs.ts'
import { copyOutput, type Validator, type ValidationReport } from './validator.ts'
import { runValidatedJobs, type Output } from './jobOutputs.ts'
import { serveDirectory } from '../../support/http/directoryServer.ts'
import { makeSourceClip, makePalClip } from './sourceClip.ts'

const REPORTS = resolve(process.env['VALIDATOR_REPORTS'] || join(ROOT, 'dist/validators'))
const absent = ALL_VALIDATORS.filter(({ missing }) => missing !== null)
skipSuite(absent.map(({ name, missing }) => `${name}: ${missing}`).join('\n') || null)

async function keep(validator: Validator, name: string, { findings, report }: ValidationReport): Promise<void> {
  const directory = join(REPORTS, validator.name)
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, `${name}.txt`), `${report}\n\nFindings: ${JSON.stringify(findings, null, 2)}\n`)
}

describe.skipIf(absent.length === ALL_VALIDATORS.length)('validators', () => {
  let service: Service
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  let outputs: Map<JobName, Output>
  const needed = new Set<AcceptedFinding>()
  const asked = new Map<string, number>()

  beforeAll(async () => {
    tempDir = await tempDirectory()
    service = await Service.start({ LEASE_SECONDS: '30' })
    const sources = { plain: await makeSourceClip(tempDir.file), pal: await makePalClip(tempDir.file) }
    const made = await runValidatedJobs(service, sources, tempDir.file('outputs'))
    outputs = new Map(made.map((output) => [output.job, output]))
  })
  afterAll(async () => {
    for (const { close } of ALL_VALIDATORS) await close?.()
    await service?.[Symbol.asyncDispose]()
    await tempDir?.[Symbol.asyncDispose]()
  })

  describe.concurrent.each(ALL_VALIDATORS)('$name', (validator) => {
    const { name, missing } = validator
    const because = missing === null ? '' : ` (${missing})`

    test.skipIf(missing !== null).each(sampled(validator.jobs, 2))(
      `${name} finds nothing in %s${because}`,
      async (job) => {
        // Validators write files next to their input.
        const output = await copyOutput(outputs.get(job)!, tempDir.file(`${name}-${job}`))
        const report = await validator.validate(output)
        await keep(validator, job, report)
        asked.set(name, (asked.get(name) ?? 0) + 1)
        expect(unacceptedFindings(ACCEPTED_FINDINGS, name, job, report.findings, needed)).toEqual([])
      },
    )

    test.skipIf(missing !== null).each(sampled(validator.faults, 1))(
      `${name} finds that in $job $what${because}`,
      async (fault) => {
        const directory = tempDir.file(`${name}-${fault.job}-${validator.faults.indexOf(fault)}-damaged`)
        await using damaged = await serveDirectory(directory)
        const output = { ...(await copyOutput(outputs.get(fault.job)!, directory)), url: damaged.url }
        await fault.damage(output)
        const report = await validator.validate(output)
        await keep(validator, `${fault.job}, ${fault.what}`, report)
        const found = unacceptedFindings(ACCEPTED_FINDINGS, name, fault.job, report.findings, new Set())
        expect(found.filter(({ rule, says }) => `${rule}: ${says}`.includes(fault.finds))).not.toEqual([])
      },
    )
  })

  test('every exception is still needed', () => {
    // A partial run of the tests cannot tell which exceptions are unused.
    const whole = ALL_VALIDATORS.filter(({ name, jobs }) => asked.get(name) === jobs.length).map(({ name }) => name)
    expect(unusedAcceptances(ACCEPTED_FINDINGS, new Set(whole), needed)).toEqual([])
  })
})

test('a finding without an exception is reported, and so is an exception without a finding', () => {
  const exception = (finding: RegExp): AcceptedFinding => ({ validator: 'one', finding, paragraph: '', reason: '' })
  const [used, idle] = [exception(/^rule: known/), exception(/^rule: gone/)]
  const needed = new Set<AcceptedFinding>()
  const findings = [
    { rule: 'rule', says: 'known' },
    { rule: 'rule', says: 'new' },
  ]
  expect(unacceptedFindings([used, idle], 'one', 'cmaf', findings, needed)).toEqual([{ rule: 'rule', says: 'new' }])
  expect(unacceptedFindings([used, idle], 'other', 'cmaf', findings, new Set())).toEqual(findings)
  expect(unusedAcceptances([used, idle], new Set(['one']), needed)).toEqual([idle])
  expect(unusedAcceptances([used, idle], new Set(), needed)).toEqual([])
})
