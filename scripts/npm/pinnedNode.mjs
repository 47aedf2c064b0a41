// In charge of: whether the Node that npm's package `node` downloads is the one that is pinned (node.sha256). Its install script
// brings it, so the lockfile has no hash of it.
// Not in charge of: a Node that was there before. Plain JavaScript: see ../run.mjs.
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'

/** @param {string} path @returns {Promise<string | null>} what is wrong */
export async function complaintAboutNode(path) {
  const sums = readFileSync(new URL('node.sha256', import.meta.url), 'utf8')
  const pinned = new RegExp(`^(\\w+)  ${process.platform}-${process.arch}$`, 'm').exec(sums)?.[1]
  if (pinned === undefined) return null
  const hash = createHash('sha256')
  for await (const part of createReadStream(path)) hash.update(part)
  const found = hash.digest('hex')
  if (found === pinned) return null
  return `${path} is not the Node that is pinned in scripts/npm/node.sha256: its SHA-256 is ${found}. Remove node_modules and install again.`
}
