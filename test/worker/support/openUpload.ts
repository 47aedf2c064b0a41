// In charge of: opening an uploaded file as a job does.
import { env } from 'cloudflare:workers'
import { openSource } from '../../../worker/storage/registry.ts'
import type { Source } from '../../../worker/storage/objectStore.ts'

export function openUpload(account: string, number: number): Promise<Source> {
  return openSource(env, 'file-upload', { account, address: { kind: 'upload', number }, credentials: {} })
}
