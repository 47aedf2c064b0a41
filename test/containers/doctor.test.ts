// `splicepoint doctor` against the deployed service: its report for a healthy one.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../scripts/local/localSettings.ts'
import { waitFor } from '../support/testClient.ts'
import { CONTAINERS_ENABLED, selectDockerEngine } from './dockerEngine.ts'
import { DeployedService } from './deployedService.ts'

const MINUTE_MS = 60_000

interface Ran {
  code: number
  report: any
}

function doctor({ base, apiKey, adminKey }: DeployedService, ...args: string[]): Promise<Ran> {
  const env = { ...process.env, SPLICEPOINT_KEY: apiKey, SPLICEPOINT_ADMIN_KEY: adminKey }
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      [join(ROOT, 'cli/splicepoint.js'), 'doctor', base, '--json', ...args],
      { env },
      (error, stdout, stderr) => {
        if (stdout === '') fail(new Error(stderr))
        else done({ code: error === null ? 0 : Number(error.code), report: JSON.parse(stdout) })
      },
    )
  })
}

// Skipped if CONTAINERS names no engine.
describe.skipIf(!CONTAINERS_ENABLED)('doctor', () => {
  let fixture: DeployedService
  beforeAll(async () => {
    await selectDockerEngine()
    fixture = await DeployedService.start({ allowPrivateHosts: '', slots: 2 })
    // `wrangler dev` does not trigger cron handlers by itself.
    await fetch(`${fixture.base}/cdn-cgi/handler/scheduled`)
  }, 25 * MINUTE_MS)
  afterAll(() => fixture?.[Symbol.asyncDispose]())

  it('finds a whole service whole: no attempt lost, nothing left', { timeout: 10 * MINUTE_MS }, async () => {
    const { code, report } = await doctor(fixture)
    const found = Object.values<any[]>(report.sections).flat()
    expect(found.filter(({ verdict }) => verdict === 'fault')).toEqual([])
    expect(code).toBe(0)
    expect(await (await fixture.call('/api/v0/job')).json()).toMatchObject({ jobs: [] })
    await waitFor('no container to be left', async () => (await fixture.containers()).length === 0, 2 * MINUTE_MS)
  })
})
