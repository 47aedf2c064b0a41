// In charge of: addresses and keys that `login` keeps for later commands, in a file that only this user can read.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './cliErrors.ts'

export interface Profile {
  url: string
  key: string
}

const DEFAULT = 'default'

/** The one that a command uses, unless it says otherwise. */
export function profileName(
  values: { profile?: string | boolean | string[] | undefined },
  env: NodeJS.ProcessEnv,
): string {
  return String(values.profile ?? '') || env['SPLICEPOINT_PROFILE'] || DEFAULT
}

export function profilesFile(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'splicepoint', 'profiles.json')
}

/** null = nobody has logged in under this name. @throws UsageError for a file that was damaged, or a name that was asked for and is not there */
export function readProfile(
  values: { profile?: string | boolean | string[] | undefined },
  env: NodeJS.ProcessEnv,
): Profile | null {
  const name = profileName(values, env)
  const found = readAll(env)[name]
  if (found !== undefined) return found
  if (name === DEFAULT) return null
  throw new UsageError(`There is no profile "${name}". Make it: splicepoint login --profile ${name}`)
}

/** `profile` null = forget it. */
export function writeProfile(name: string, profile: Profile | null, env: NodeJS.ProcessEnv): void {
  const { [name]: _before, ...others } = readAll(env)
  const file = profilesFile(env)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const all = profile === null ? others : { ...others, [name]: profile }
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
  // Of a file that was there before, the mode above changes nothing.
  chmodSync(file, 0o600)
}

function readAll(env: NodeJS.ProcessEnv): Record<string, Profile | undefined> {
  const file = profilesFile(env)
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Profile>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`${file} cannot be read (${(error as Error).message}). Remove it and log in again.`)
  }
}
