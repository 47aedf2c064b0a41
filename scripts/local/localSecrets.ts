// In charge of: the secrets of a local service: those stored with its data, and those of a single run.
// Not in charge of: passing them to processes (localService.ts uses IPC, never an argv or a file of wrangler's).
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface StoredSecrets {
  SERVICE_SECRET: string
  /** `id:base64 of 32 bytes` */
  VAULT_KEYS: string
  ADMIN_KEY: string
  API_KEY: string
}

export interface RunSecrets {
  /** Proves to the egress proxy that a request comes from the Worker itself. */
  INTERNAL_TOKEN: string
  /** Permits only this service to start work on its transcoders. */
  TRANSCODER_SECRET: string
}

const token = (): string => randomBytes(32).toString('base64url')

/**
 * Reads `secrets.json`, or creates it. Encrypted credentials and attempt tokens depend on it, so it is stored with the
 * data.
 */
export async function loadStoredSecrets(stateDir: string): Promise<StoredSecrets> {
  const path = join(stateDir, 'secrets.json')
  const found = await read(path)
  const secrets: StoredSecrets = {
    SERVICE_SECRET: found.SERVICE_SECRET ?? token(),
    VAULT_KEYS: found.VAULT_KEYS ?? `k1:${randomBytes(32).toString('base64')}`,
    ADMIN_KEY: found.ADMIN_KEY ?? `admin_${token()}`,
    API_KEY: found.API_KEY ?? `key_${randomBytes(18).toString('base64url')}`,
  }
  if (Object.keys(secrets).some((name) => !(name in found))) {
    await mkdir(stateDir, { recursive: true })
    // Written atomically: an incomplete file would make the stored data unreadable.
    const draft = `${path}.${process.pid}`
    await writeFile(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 })
    await rename(draft, path)
  }
  return secrets
}

export function createRunSecrets(): RunSecrets {
  return { INTERNAL_TOKEN: token(), TRANSCODER_SECRET: token() }
}

async function read(path: string): Promise<Partial<StoredSecrets>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Partial<StoredSecrets>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${path} cannot be read (${String(error)}). Without it, stored credentials cannot be decrypted.`, {
      cause: error,
    })
  }
}
