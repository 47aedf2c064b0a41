// In charge of: the start of every npm script: installs missing packages of package-lock.json, then runs a program with
// the Node among them. `node scripts/run.mjs [--omit=dev] FILE.ts [ARGUMENT…]`; with --omit=dev, for programs of users, without
// the packages of development.
// Not in charge of: the program. Plain JavaScript, because it must run on any Node from 20 on.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { install } from './npm/installPackages.mjs'
import { findMissingPackages } from './npm/missingPackages.mjs'
import { complaintAboutNode } from './npm/pinnedNode.mjs'

const ROOT = resolve(import.meta.dirname, '..')
const NODE = join(ROOT, 'node_modules/node/bin/node')

/** Messages go to standard error: standard output belongs to the program. */
const say = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)

/** @param {string} file @param {string[]} args */
async function run(file, args) {
  const path = resolve(ROOT, file)
  if (process.features.typescript) {
    process.argv = [process.execPath, path, ...args]
    await import(pathToFileURL(path).href)
    return
  }
  const complaint = await complaintAboutNode(NODE)
  if (complaint !== null) {
    say(complaint)
    process.exitCode = 1
    return
  }
  const child = spawn(NODE, [path, ...args], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both processes; the child handles it.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => signal !== 'SIGINT' && child.kill(signal))
  }
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}

const omitDev = process.argv[2] === '--omit=dev'
const [file, ...args] = process.argv.slice(omitDev ? 3 : 2)
const missing = findMissingPackages(ROOT, omitDev)
if (file === undefined) {
  say('Which program? node scripts/run.mjs [--omit=dev] FILE.ts')
  process.exitCode = 2
} else if (missing.length > 0 && !(await install(ROOT, missing, omitDev, say))) {
  process.exitCode = 1
} else if (!process.features.typescript && !existsSync(NODE)) {
  say(
    'npm did not install the Node version that this needs. Allow its install script (npm approve-scripts node), or use Node 24.',
  )
  process.exitCode = 1
} else await run(file, args)
