#!/usr/bin/env node
// In charge of: running the command with a Node that reads TypeScript (22.18 or newer): this one, or else the one that
// npm installs with this package. Plain JavaScript, because it must run on any Node from 20 on.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))

if (process.features.typescript) {
  await import('./main.ts')
} else {
  const node = createRequire(import.meta.url).resolve('node/bin/node')
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both processes; the child handles it.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.on(signal, () => signal === 'SIGTERM' && child.kill(signal))
  }
  child.on('error', (error) => {
    process.stderr.write(`This command needs Node 22.18 or newer: ${error.message}\n`)
    process.exitCode = 2
  })
  child.on('close', (code) => {
    process.exitCode = code ?? 130
  })
}
