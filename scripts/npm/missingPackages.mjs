// In charge of: whether node_modules is what package-lock.json says, without asking anybody: by the list of what is
// installed that npm keeps beside it.
// Not in charge of: installing (install.mjs). Plain JavaScript: see ../run.mjs.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean, os?: string[], cpu?: string[],
 *   libc?: string[] }} Entry
 * @typedef {{ os: string, cpu: string, libc: () => string | null }} Machine
 */

const LOCKFILE = 'package-lock.json'
const NOTE = 'node_modules/.left-out.json'

/** @returns {Machine} */
export function thisMachine() {
  return { os: process.platform, cpu: process.arch, libc: findLibc }
}

/** The C library of Linux: of the two that packages are built for. */
function findLibc() {
  if (process.platform !== 'linux' || !process.report) return null
  const report = /** @type {{ excludeNetwork?: boolean, getReport: () => object }} */ (process.report)
  // Else it looks up the names of all peers.
  report.excludeNetwork = true
  const { header } = /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (report.getReport())
  return header?.glibcVersionRuntime ? 'glibc' : 'musl'
}

/** By npm's rules: a list may also say what is not meant ("!win32"). @param {string[] | undefined} allowed @param {string | null} here */
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
 * Names of packages that are not installed as the lockfile has them, for this machine; empty: all is well.
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
    // Optional ones that name no machine may fail to install, and are then not there.
    const isOptional = entry.optional && entry.os === undefined && entry.cpu === undefined
    return isOptional || !isFor(entry, machine) ? [] : [path]
  })
}

/** Where both know it. @param {Entry} a @param {Entry} b */
function sameIntegrity(a, b) {
  return a.integrity === undefined || b.integrity === undefined || a.integrity === b.integrity
}

/** @param {string} root @returns {string[]} */
export function findMissingPackages(root) {
  const excused = rememberedMissing(root)
  return compareAll(root).filter((path) => !excused.includes(path))
}

/** @param {string} root @returns {string[]} */
function compareAll(root) {
  const wanted = packagesOf(join(root, LOCKFILE))
  if (wanted === null) return [LOCKFILE]
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'))
  if (installed === null) return ['node_modules']
  // npm's list says what was put there, not what still is.
  const gone = Object.keys(installed).filter((path) => path !== '' && !existsSync(join(root, path, 'package.json')))
  return [...comparePackages(wanted, installed, thisMachine()), ...gone]
}

/**
 * After an installation: what npm left out although it is for this machine, an optional package whose script failed for one,
 * would be left out again by the next one. @param {string} root
 */
export function rememberMissing(root) {
  const left = compareAll(root)
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
