// In charge of: asking wrangler what is deployed, if it is installed and logged in. Everything that it cannot tell is
// left out.
// Not in charge of: the configuration file (wranglerTomlChecks.ts).
import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Check } from '#contract/api/diagnosis.ts'
import { fault, ok, skipped, warning } from './checkResult.ts'

const SECRETS = ['SERVICE_SECRET', 'VAULT_KEYS', 'ADMIN_KEY']
const ANSWER_MS = 30_000
const LOGIN = 'npm run cloudflare -- login'

interface CommandOutput {
  code: number
  stdout: string
  stderr: string
}

/** The wrangler in the nearest parent directory of the configuration. */
async function findWrangler(from: string): Promise<string | null> {
  for (let directory = from; ; directory = dirname(directory)) {
    const path = join(directory, 'node_modules/.bin/wrangler')
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
    if (dirname(directory) === directory) return null
  }
}

/** @param path of wrangler.toml */
export async function checkDeployment(path: string, signal: AbortSignal): Promise<Check[]> {
  const directory = dirname(path)
  const wrangler = await findWrangler(directory)
  if (wrangler === null) return [skipped('deployed', 'wrangler is not installed, so Cloudflare was not queried.')]
  const run = (...args: string[]): Promise<CommandOutput> =>
    new Promise((resolve) => {
      execFile(
        wrangler,
        [...args, '--config', path],
        // CI: wrangler must not open a browser or prompt.
        {
          cwd: directory,
          timeout: ANSWER_MS,
          signal,
          env: { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false' },
        },
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr }),
      )
    })
  const listed = await run('secret', 'list', '--format', 'json')
  if (/does not exist|\b10007\b/.test(listed.stderr)) {
    return [warning('deployed', 'There is no such Worker on this account.', 'Deploy it: npm run deploy.')]
  }
  const names = listed.code === 0 ? secretNames(listed.stdout) : null
  if (names === null) {
    return [skipped('deployed', `wrangler could not list the secrets of the deployed Worker. Log in first: ${LOGIN}.`)]
  }
  return [checkSecrets(names), checkMigrations(await run('d1', 'migrations', 'list', 'DB', '--remote'))]
}

function secretNames(text: string): string[] | null {
  try {
    const list = JSON.parse(text.slice(text.indexOf('['))) as unknown
    return Array.isArray(list) ? list.map(({ name }: { name: string }) => name) : null
  } catch {
    return null
  }
}

function checkSecrets(names: readonly string[]): Check {
  const missing = SECRETS.filter((name) => !names.includes(name))
  return missing.length > 0
    ? fault(
        'deployed_secrets',
        `The deployed Worker lacks ${missing.join(', ')}.`,
        missing.map((name) => `npm run cloudflare -- secret put ${name}`).join('; '),
      )
    : ok('deployed_secrets', `The deployed Worker has ${SECRETS.join(', ')}.`)
}

function checkMigrations({ code, stdout, stderr }: CommandOutput): Check {
  const text = stdout + stderr
  if (code !== 0)
    return skipped('deployed_migrations', 'wrangler could not list the migrations of the deployed database.')
  const waiting = [...new Set([...text.matchAll(/\b(\d{4}_\w+\.sql)\b/g)].map(([, name]) => name ?? ''))]
  return waiting.length > 0
    ? fault(
        'deployed_migrations',
        `Not applied to the deployed database: ${waiting.join(', ')}.`,
        'npm run cloudflare -- d1 migrations apply DB --remote, before the next deployment.',
      )
    : ok('deployed_migrations', 'The deployed database has all migrations.')
}
