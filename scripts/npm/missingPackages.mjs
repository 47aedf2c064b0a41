// In charge of: comparing node_modules with package-lock.json without network access, by the list of installed packages
// that npm stores in node_modules.
// Not in charge of: installing (installPackages.mjs). Plain JavaScript: see ../run.mjs.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{ version?: string, integrity?: string, link?: boolean, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[],
 *   libc?: string[] }} Entry
 * @typedef {{ os: string, cpu: string, libc: () => string | null }} Machine
 */

const LOCKFILE = 'package-lock.json'
const NOTE = 'node_modules/.left-out.json'

/** @returns {Machine} */
export function thisMachine() {
  return { os: process.platform, cpu: process.arch, libc: findLibc }
}

/** The C library on Linux: packages exist for glibc and musl. */
function findLibc() {
  if (process.platform !== 'linux' || !process.report) return null
  const report = /** @type {{ excludeNetwork?: boolean, getReport: () => object }} */ (process.report)
  // Without this, the report looks up the host names of all peers.
  report.excludeNetwork = true
  const { header } = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (report.getReport())
  return header?.glibcVersionRuntime ? 'glibc' : 'musl'
}

/**
 * npm's rules: a list may also exclude values ("!win32").
 * @param {string[] | undefined} allowed @param {string | null} here
 */
function isAllowed(allowed, here) {
  if (allowed === undefined || allowed.length === 0 || allowed.includes('any')) return true
  const refused = allowed.filter((one) => one.startsWith('!'))
  if (here !== null && refused.includes(`!${here}`)) return false
  return refused.length === allowed.length || (here !== null && allowed.includes(here))
}

/** @param {Entry} entry @param {Machine} machine */
function isFor(entry, machine) {
  if (!isAllowed(entry.os, machine.os) || !isAllowed(entry.cpu, machine.cpu)) return false
  return entry.libc === undefined || isAllowed(entry.libc, machine.libc())
}

/**
 * Names of packages for this machine that differ from the lockfile; empty: everything is installed.
 * @param {Record<string, Entry>} wanted @param {Record<string, Entry>} installed @param {Machine} machine
 * @returns {string[]}
 */
export function comparePackages(wanted, installed, machine) {
  return Object.entries(wanted).flatMap(([path, entry]) => {
    if (path === '') return []
    const found = installed[path]
    if (found !== undefined) {
      const isSame = found.version === entry.version && sameIntegrity(found, entry)
      return isSame || found.link ? [] : [path]
    }
    // Optional packages for all machines may have failed to install, so they may be absent.
    const isOptional = entry.optional && entry.os === undefined && entry.cpu === undefined
    return isOptional || !isFor(entry, machine) ? [] : [path]
  })
}

/** Equal, or unknown on one side. @param {Entry} a @param {Entry} b */
function sameIntegrity(a, b) {
  return a.integrity === undefined || b.integrity === undefined || a.integrity === b.integrity
}

/** @param {string} root @param {boolean} omitDev @returns {string[]} */
export function findMissingPackages(root, omitDev) {
  const excused = rememberedMissing(root)
  return compareAll(root, omitDev).filter((path) => !excused.includes(path))
}

/** @param {string} root @param {boolean} omitDev @returns {string[]} */
function compareAll(root, omitDev) {
  const wanted = packagesOf(join(root, LOCKFILE))
  if (wanted === null) return [LOCKFILE]
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'))
  if (installed === null) return ['node_modules']
  // npm's list does not notice packages that were deleted later.
  const gone = Object.keys(installed).filter((path) => path !== '' && !existsSync(join(root, path, 'package.json')))
  const needed = omitDev ? Object.fromEntries(Object.entries(wanted).filter(([, { dev }]) => dev !== true)) : wanted
  return [...comparePackages(needed, installed, thisMachine()), ...gone]
}

/**
 * Remembers packages for this machine that npm left out of an installation (an optional package whose script failed,
 * for example). The next installation would leave them out again.
 * @param {string} root @param {boolean} omitDev
 */
export function rememberMissing(root, omitDev) {
  const left = compareAll(root, omitDev)
  const note = join(root, NOTE)
  if (left.length > 0) writeFileSync(note, JSON.stringify({ of: fingerprint(root), left }))
}

/** @param {string} root @returns {string[]} */
function rememberedMissing(root) {
  try {
    const { of, left } = /** @type {{ of: string, left: string[] }} */ (
      JSON.parse(readFileSync(join(root, NOTE), 'utf8'))
    )
    return of === fingerprint(root) ? left : []
  } catch {
    return []
  }
}

/** @param {string} root */
function fingerprint(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, LOCKFILE)))
    .digest('hex')
}

/** @param {string} path @returns {Record<string, Entry> | null} */
function packagesOf(path) {
  try {
    const { packages } = /** @type {{ packages: Record<string, Entry> }} */ (JSON.parse(readFileSync(path, 'utf8')))
    return packages
  } catch {
    return null
  }
}
