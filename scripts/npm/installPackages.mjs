// In charge of: running `npm ci` with progress messages, and explaining why it fails.
// Not in charge of: whether it is needed (missingPackages.mjs). Plain JavaScript: see ../run.mjs.
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { rememberMissing } from './missingPackages.mjs'

const REACH_MS = 10_000
const WORD_EVERY_MS = 5_000
/** By default, npm waits ten minutes for a registry that does not answer. */
const PATIENCE = [
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  '--fetch-timeout=60000',
]
const NOT_REACHED =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/

/**
 * `npm ci` and not `npm install`, which may change the lockfile: the tested versions are installed, and a clone stays
 * unchanged.
 * @param {string} root @param {string[]} missing @param {boolean} omitDev @param {(line: string) => void} say
 * @returns {Promise<boolean>} whether all packages are installed now
 */
export async function install(root, missing, omitDev, say) {
  const why = missing.includes('node_modules') ? '' : ` (${missing.length} differ, ${missing[0]} for one)`
  say(`Installing the packages of package-lock.json${why} …`)
  const began = Date.now()
  const registry = await registryOf(root)
  const isThere = usesProxy() || (await reach(registry))
  const flags = [...(omitDev ? ['--omit=dev'] : []), ...(isThere ? PATIENCE : ['--offline'])]
  const { code, output } = await npmCi(root, flags, began, say)
  const seconds = ((Date.now() - began) / 1000).toFixed(0)
  if (code === 0) {
    rememberMissing(root, omitDev)
    say(`Installed in ${seconds} s.`)
    return true
  }
  const cause = NOT_REACHED.exec(output)?.[1]
  if (!isThere || cause !== undefined) {
    say(
      `The packages could not be installed: the registry ${hostOf(registry)} cannot be reached${cause && cause !== 'ENOTCACHED' ? ` (${cause})` : ''}, ` +
        'and not all packages are in npm’s cache. Connect this machine to the registry, or set another one ' +
        '(npm config set registry ADDRESS), and start again.',
    )
  } else say(`${output.trimEnd()}\nThe packages could not be installed (npm ci, exit code ${code}).`)
  return false
}

/** The registry that npm uses: its default, or the configured one. @param {string} root */
async function registryOf(root) {
  const child = spawnNpm(root, ['config', 'get', 'registry'])
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await new Promise((resolve) => child.once('error', resolve).once('close', resolve))
  return output.trim()
}

/** The npm that started this script. PATH may contain another one. @param {string} root @param {string[]} args */
function spawnNpm(root, args) {
  const npm = process.env['npm_execpath']
  const [program, first] = npm ? [process.execPath, [npm]] : ['npm', []]
  return spawn(program, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** @param {string} root @param {string[]} flags @param {number} began @param {(line: string) => void} say */
function npmCi(root, flags, began, say) {
  const child = spawnNpm(root, ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...flags])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const word = setInterval(
    () => say(`… still installing (${Math.round((Date.now() - began) / 1000)} s)`),
    WORD_EVERY_MS,
  )
  return new Promise((/** @type {(ended: { code: number | null, output: string }) => void} */ resolve) => {
    child.once('error', (error) => resolve({ code: null, output: String(error) }))
    child.once('close', (code) => resolve({ code, output }))
  }).finally(() => clearInterval(word))
}

/** Whether a proxy connects to the registry. */
function usesProxy() {
  const names = ['npm_config_proxy', 'npm_config_https_proxy', 'HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']
  return names.some((name) => (process.env[name] ?? '') !== '')
}

/** @param {string} registry @returns {Promise<boolean>} */
function reach(registry) {
  return new Promise((resolve) => {
    let url
    try {
      url = new URL(registry)
    } catch {
      resolve(false)
      return
    }
    const socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port) || (url.protocol === 'http:' ? 80 : 443),
    })
    const end = (/** @type {boolean} */ isThere) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.setTimeout(REACH_MS, () => end(false))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

/** The host without parts that may be secret. @param {string} registry */
function hostOf(registry) {
  try {
    return new URL(registry).host
  } catch {
    return registry
  }
}
