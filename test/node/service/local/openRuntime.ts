// In charge of: the fault that ports.test.ts plants: a runtime with a database and a bucket that listens on a port
// itself, with wrangler's defaults. Ends with its parent.
import { Miniflare, convertV4MiniflareOptions } from 'miniflare'

const runtime = new Miniflare(
  convertV4MiniflareOptions({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    unsafeLocalExplorer: true,
    unsafeTriggerHandlers: true,
    modules: true,
    script: 'export default { fetch: () => new Response("ok"), scheduled() {} }',
    compatibilityDate: '2026-11-01',
    d1Databases: { DB: { id: 'planted' } },
    r2Buckets: { BUCKET: { id: 'splicepoint' } },
  }),
)
const bucket = await runtime.getR2Bucket('BUCKET')
await bucket.put('planted.txt', 'anybody may read this')
process.on('disconnect', () => void runtime.dispose().then(() => process.exit(0)))
process.on('SIGTERM', () => void runtime.dispose().then(() => process.exit(0)))
console.log(String(await runtime.ready))
