// In charge of: `login` and `logout`: an address and a key that were tried, kept for later commands.
// Not in charge of: the file (profiles.ts).
import { createInterface } from 'node:readline'
import { Client } from '../../client/nodeClient.ts'
import { serviceAddress, type OptionValues } from '../arguments.ts'
import { UsageError } from '../cliErrors.ts'
import { profileName, profilesFile, writeProfile } from '../profiles.ts'

/** @throws UsageError, ServiceError for a key that the service refuses */
export async function loginCommand(values: OptionValues, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<string> {
  const given = String(values['url'] ?? env['SPLICEPOINT_URL'] ?? '')
  if (given === '') throw new UsageError('Say to which service: splicepoint login --url https://…')
  const url = serviceAddress(given)
  const key = String(values['key'] ?? env['SPLICEPOINT_KEY'] ?? '') || (await askForKey(url))
  if (key === '') throw new UsageError('The API key is missing.')
  await new Client(url, key, signal).list({ limit: 1 })
  const name = profileName(values, env)
  writeProfile(name, { url, key }, env)
  return `Logged in to ${url} (profile ${name}, kept in ${profilesFile(env)}).`
}

export function logoutCommand(values: OptionValues, env: NodeJS.ProcessEnv): string {
  const name = profileName(values, env)
  writeProfile(name, null, env)
  return `The profile ${name} is removed from ${profilesFile(env)}. Its key is still valid: an administrator can revoke it.`
}

/** From standard input; what is typed is not shown. */
async function askForKey(url: string): Promise<string> {
  const isTyped = process.stdin.isTTY
  if (isTyped) process.stderr.write(`API key of ${url}: `)
  const lines = createInterface({ input: process.stdin, terminal: isTyped, ...(isTyped ? { output: undefined } : {}) })
  for await (const line of lines) {
    if (isTyped) process.stderr.write('\n')
    return line.trim()
  }
  return ''
}
