// In charge of: `npm start`: runs the whole service on this machine until Ctrl-C. `--json` prints one line for
// programs; `--quiet` nothing but errors, for logs that must not have the keys.
// Not in charge of: the service itself (local/localService.ts).
import { readSettings } from './local/localSettings.ts'
import { stopOnSignals } from './local/processes/stopSignals.ts'
import { LocalService, type RunningService } from './local/localService.ts'
import { startMessage } from './local/startMessage.ts'

const asJson = process.argv.slice(2).includes('--json')
const isQuiet = process.argv.slice(2).includes('--quiet')

function line(service: RunningService, publicUrl: string | null): string {
  return JSON.stringify({
    ready: true,
    base_url: service.baseUrl,
    public_url: publicUrl ?? service.baseUrl,
    api_key: service.apiKey,
    admin_key: service.adminKey,
    transcoder_urls: service.transcoderUrls,
    pids: service.pids(),
  })
}

try {
  const settings = readSettings(process.env)
  const say = (text: string): void => void process.stderr.write(`${text}\n`)
  const began = performance.now()
  const step = (text: string): void => say(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}`)
  if (!asJson && !isQuiet) say('Starting Splicepoint …')
  const local = new LocalService(settings, say, asJson || isQuiet ? undefined : step)
  // Before the first child process starts, so that a signal during the start leaves no process running.
  const signals = stopOnSignals(local)
  try {
    const service = await local.start()
    if (!isQuiet)
      process.stdout.write(asJson ? `${line(service, settings.baseUrl)}\n` : startMessage(service, settings))
  } catch (error) {
    if (signals.received()) await local.stop()
    else {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
      await local.stop()
      process.exitCode = 1
    }
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
