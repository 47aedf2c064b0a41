// In charge of: whether a store contains exactly what a job reports, and whether a manifest refers to a missing object.
// Not in charge of: how it got there.
import { createHash } from 'node:crypto'
import { parse } from 'mpd-parser'
import type { PublicStatus } from '#contract/api/status.ts'

/** Key → bytes. */
export type Objects = ReadonlyMap<string, { bytes: Uint8Array }>

const HOST = 'http://store/'

/** Keys that a manifest refers to; none for any other object. */
function namedBy(key: string, bytes: Uint8Array): string[] {
  const text = (): string => new TextDecoder().decode(bytes)
  const at = (uri: string): string => decodeURIComponent(new URL(uri, HOST + key).pathname.slice(1))
  if (key.endsWith('.m3u8')) {
    const lines = text().split('\n')
    const uris = lines.filter((line) => line !== '' && !line.startsWith('#'))
    return [...uris, ...[...text().matchAll(/URI="([^"]+)"/g)].map(([, uri]) => uri!)].map(at)
  }
  if (!key.endsWith('.mpd')) return []
  const { playlists, mediaGroups } = parse(text(), { manifestUri: HOST + key })
  const audio = Object.values(mediaGroups.AUDIO).flatMap((group) => Object.values(group))
  return [...playlists, ...audio.flatMap((one) => one.playlists)]
    .flatMap(({ segments }) => segments.flatMap((one) => [one.resolvedUri, one.map.resolvedUri]))
    .map(at)
}

/** Sentences about objects that a manifest names and the store does not contain (I5). */
export function danglingReferences(objects: Objects, key: string): string[] {
  const there = objects.get(key)
  const missing = there ? [...new Set(namedBy(key, there.bytes))].filter((one) => !objects.has(one)) : []
  return missing.map((one) => `${key} points at ${one}, which is not there`)
}

/** Everything below `root` is listed, unchanged; everything listed exists; nothing refers elsewhere. */
export function storageDifferences(status: PublicStatus, objects: Objects, root: string): string[] {
  const wrong: string[] = []
  const bucket = root.slice(0, root.indexOf('/') + 1)
  const listed = new Map(status.outputs.map((output) => [bucket + output.path, output]))
  const report = [...listed.keys()].find((key) => key.endsWith('/job.json'))
  const written = JSON.parse(new TextDecoder().decode(objects.get(report ?? '')?.bytes) || '{"objects":[]}') as {
    objects: { path: string; size: number; sha256: string | null }[]
  }
  const all = new Map([
    ...written.objects.map((one) => [bucket + one.path, one] as const),
    ...[...listed].map(([key, { size, sha256 }]) => [key, { path: key, size, sha256 }] as const),
  ])
  if (all.size === 0 || (report !== undefined && written.objects.length === 0)) wrong.push('nothing is listed')
  for (const [key, { size, sha256 }] of all) {
    const bytes = objects.get(key)?.bytes
    if (bytes === undefined) wrong.push(`${key} is listed and not there`)
    else if (bytes.length !== size || (sha256 !== null && createHash('sha256').update(bytes).digest('hex') !== sha256))
      wrong.push(`${key} is not what it is said to be`)
  }
  for (const key of objects.keys()) {
    if (!key.startsWith(`${root}/`)) continue
    if (!all.has(key)) wrong.push(`${key} is there and not listed`)
    wrong.push(...danglingReferences(objects, key))
  }
  return wrong
}
