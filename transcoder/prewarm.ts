// In charge of: finding out, when the image is built (Dockerfile), what would be the same at every start: what ffmpeg
// can do (FFMPEG_RECORD), and the compiled code of all modules (NODE_COMPILE_CACHE), which Node writes at the end of a
// first start.
// Not in charge of: checking that both are still valid when the image runs: server/startup.ts and Node do so at each
// start.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { locateEngine } from './ffmpeg/locate.ts'
import { writeEngineCache } from './ffmpeg/engineCache.ts'

const { FFMPEG_RECORD: record, NODE_COMPILE_CACHE: cache } = process.env
if (!record || !cache) throw new Error('FFMPEG_RECORD and NODE_COMPILE_CACHE say where to write.')
await writeEngineCache(record, await locateEngine(process.env))

// NODE_DISABLE_COMPILE_CACHE is for this process only: it compiles with other V8 flags, and would at its end overwrite
// the cache that the transcoder can use.
const { NODE_DISABLE_COMPILE_CACHE: _, ...env } = process.env
const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
  env: { ...env, HOST: '127.0.0.1', PORT: '0' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(child, 'exit')
for await (const line of createInterface({ input: child.stdout })) {
  process.stdout.write(`${line}\n`)
  if (line.includes('"level":"warn"')) process.exitCode = 1
  if (line.startsWith('{"transcoder":"ready"')) child.kill('SIGTERM')
}
if ((await ended)[0] !== 0) process.exitCode = 1
