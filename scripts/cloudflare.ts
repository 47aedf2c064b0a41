// In charge of: `npm run cloudflare -- COMMAND…`: runs wrangler for one environment of splicepoint.toml.
// Not in charge of: the environments (cloudflare/deployment.ts), wrangler's configuration (cloudflare/wranglerConfig.ts).
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { parse, stringify } from 'smol-toml'
import { readDeployments, type Deployment } from './cloudflare/deployment.ts'
import { wranglerConfig } from './cloudflare/wranglerConfig.ts'
import { currentCommit } from './local/currentCommit.ts'
import { ROOT, STARTED_FROM } from './local/localSettings.ts'

const USAGE = `Usage: npm run cloudflare -- [--environment NAME] [--file PATH] COMMAND…

COMMAND is one of wrangler, such as "secret put ADMIN_KEY" or "d1 migrations apply DB --remote", or:
  config   write the configuration of the environment and print the name of its file

The environments are in splicepoint.toml, or in the file of --file (docs/operating.md). Without a name: the first of the file.
`

/** Commands that create what the file will name, and need no environment yet. */
const SETUP = new Set(['login', 'logout', 'whoami', 'd1 create', 'r2 bucket', 'queues create'])

async function main(args: readonly string[]): Promise<number> {
  const { environment, file, command } = readArguments(args)
  if (command.length === 0) {
    process.stderr.write(USAGE)
    return 2
  }
  const isSetup = SETUP.has(command[0]!) || SETUP.has(command.slice(0, 2).join(' '))
  if (isSetup && environment === null) return wrangler(command)
  const config = await writeConfig(file, environment)
  if (command[0] === 'config') {
    process.stdout.write(`${config}\n`)
    return 0
  }
  return wrangler([...command, ...(await deployedCommit(command)), '--config', config])
}

/** For /health and /metrics of what is deployed. */
async function deployedCommit([name]: readonly string[]): Promise<string[]> {
  const commit = name === 'deploy' ? await currentCommit() : ''
  return commit === '' ? [] : ['--var', `COMMIT:${commit}`]
}

/** The two options may stand anywhere, because npm appends arguments: `npm run deploy -- --environment staging`. */
function readArguments(args: readonly string[]) {
  const command = [...args]
  const take = (option: string): string | null => {
    const at = command.indexOf(option)
    if (at < 0) return null
    const [, value] = command.splice(at, 2)
    if (value === undefined) throw new Error(`${option} needs a value`)
    return value
  }
  const environment = take('--environment')
  const file = take('--file')
  return { environment, file: file === null ? join(ROOT, 'splicepoint.toml') : resolve(STARTED_FROM, file), command }
}

/** Writes wrangler.<environment>.toml beside wrangler.toml, whose relative paths it has. Returns its name. */
async function writeConfig(file: string, environment: string | null): Promise<string> {
  const own = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new Error(`There is no ${basename(file)}. Copy splicepoint.example.toml to it and set database_id.`)
  })
  const deployment = choose(readFrom(own), environment)
  const base = parse(await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
  const config = `wrangler.${deployment.environment}.toml`
  const head = `# Written by "npm run cloudflare" from wrangler.toml and splicepoint.toml. Do not edit it: it is written again.\n`
  await writeFile(join(ROOT, config), `${head}${stringify(wranglerConfig(base, deployment))}`)
  return config
}

function readFrom(toml: string): Deployment[] {
  try {
    return readDeployments(toml)
  } catch (error) {
    throw new Error(`splicepoint.toml:\n${(error as Error).message.trim().replaceAll(/^/gm, '  ')}`, { cause: error })
  }
}

function choose(deployments: readonly Deployment[], environment: string | null): Deployment {
  const found = deployments.find((each) => environment === null || each.environment === environment)
  if (found !== undefined) return found
  const names = deployments.map((each) => each.environment).join(', ')
  throw new Error(`splicepoint.toml has no environment "${environment}". Environments: ${names}`)
}

function wrangler(command: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(ROOT, 'node_modules/wrangler/bin/wrangler.js'), ...command], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
