// In charge of: calling tus 1.0.0 as a client does, and inspecting what is stored of an upload.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, vi } from 'vitest'
import { resumableUpload } from '../../../../worker/uploads/tus/resumableUpload.ts'
import { apiRequest } from '../../support/apiClient.ts'

export const MIB = 1024 * 1024
export const CHUNK = { 'content-type': 'application/offset+octet-stream' }
export const bytes = (length: number, seed = 1) =>
  new Uint8Array(length).map((_, i) => (i * 31 + (i >> 9) * seed) % 251)
export const LARGE_BODY = bytes(12 * MIB + 17)

export const tus = (
  path: string,
  method: string,
  headers: Record<string, string> = {},
  body?: BodyInit,
  key?: string,
) =>
  apiRequest(path, {
    method,
    headers: { 'tus-resumable': '1.0.0', ...headers },
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  })

export async function createUpload(length: number, headers: Record<string, string> = {}): Promise<string> {
  const response = await tus('/uploads', 'POST', { 'upload-length': String(length), ...headers })
  expect([response.status, await response.clone().text()]).toEqual([201, expect.any(String)])
  return new URL(response.headers.get('location') ?? '').pathname
}
export const patch = (path: string, offset: number, body: BodyInit, headers: Record<string, string> = {}) =>
  tus(path, 'PATCH', { ...CHUNK, 'upload-offset': String(offset), ...headers }, body)
export const offsetOf = async (path: string) =>
  Number((await tus(path, 'HEAD')).headers.get('upload-offset') ?? Number.NaN)
export const numberOf = (path: string) => Number(path.split('/').at(-1))
export const uploadObject = (path: string) => resumableUpload(env, numberOf(path))
export const statusAndCode = async (response: Response) => [
  response.status,
  (await response.json<{ error: { code: string } }>()).error.code,
]
export async function checksum(algorithm: string, body: Uint8Array): Promise<string> {
  const name = { sha1: 'SHA-1', sha256: 'SHA-256', md5: 'MD5' }[algorithm] ?? ''
  const digest = new Uint8Array(await crypto.subtle.digest(name, body))
  return `${algorithm} ${btoa(String.fromCharCode(...digest))}`
}
export async function readUpload(path: string): Promise<Uint8Array> {
  return new Uint8Array(await (await apiRequest(path)).arrayBuffer())
}
export async function hasContent(path: string, expected: Uint8Array): Promise<boolean> {
  const [a, b] = await Promise.all([await readUpload(path), expected].map((each) => checksum('sha256', each)))
  return a === b
}
/** A body whose sender controls when it continues and how it ends. */
export function heldBody() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  return { readable, writer: writable.getWriter() }
}
export async function remainsOfUpload(path: string): Promise<unknown> {
  const row = await env.DB.prepare('SELECT key FROM uploads WHERE number = ?').bind(numberOf(path)).first()
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  const inside = await runInDurableObject(uploadObject(path), (_, state) => [
    state.storage.sql.exec('SELECT count(*) AS n FROM parts').one()['n'],
    state.storage.sql.exec('SELECT count(*) AS n FROM tail').one()['n'],
  ])
  return { row, objects: objects.length, inside }
}
export const NOTHING_LEFT = { row: null, objects: 0, inside: [0, 0] }

/** Run before each test, so that later listings contain only its own objects. */
export async function emptyBucket() {
  const { objects } = await env.BUCKET.list({ prefix: 'uploads/' })
  await env.BUCKET.delete(objects.map(({ key }) => key))
  return () => void vi.useRealTimers()
}
