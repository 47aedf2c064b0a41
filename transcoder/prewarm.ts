// In charge of: what every start of the image would find out alike, found out once, when it is built (Dockerfile): what ffmpeg can
// do (FFMPEG_RECORD), and the compiled code of all modules (NODE_COMPILE_CACHE), which Node writes at the end of a first start.
// Not in charge of: whether either still holds when the image runs: server/startup.ts and Node look each time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { locateEngine } from './ffmpeg/locate.ts'
import { writeEngineCache } from './ffmpeg/engineCache.ts'

const { FFMPEG_RECORD: record, NODE_COMPILE_CACHE: cache } = process.env
if (!record || !cache) throw new Error('FFMPEG_RECORD and NODE_COMPILE_CACHE say where to write.')
await writeEngineCache(record, await locateEngine(process.env))

// NODE_DISABLE_COMPILE_CACHE is for this process alone: what it compiles has other flags of V8, and would replace at its end what
// the transcoder can use.
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
