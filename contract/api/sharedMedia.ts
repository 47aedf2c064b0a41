// In charge of: what a shared page shows of a job: what can be played, best format for browsers first, and what can be
// downloaded.
// Not in charge of: who can open it, and until when (worker/shares/shareAccess.ts).
import type { SharedMedia } from './answers.ts'
import type { PublicOutput, PublicStatus } from './status.ts'

export interface SharedPageOptions {
  title: string
  /** ISO 8601. */
  expires_at: string
  addresses_expire_at: string
}

type Playable = SharedMedia['sources'][number]

/** Files that browsers play. Transport streams, MPEG-2 and AC-3 need other players. */
const BROWSER_FILES = /\.(mp4|m4v|m4a|webm|mov|mp2|mp3)$/i
/** A master playlist or a manifest represents all renditions. */
const MANIFESTS: Readonly<Record<string, Playable['kind']>> = { 'master.m3u8': 'hls', 'manifest.mpd': 'dash' }
const LABELS = { hls: 'HLS', dash: 'DASH' } as const

const nameOf = (path: string): string => path.split('/').at(-1) ?? path

export function sharedMedia(status: PublicStatus, terms: SharedPageOptions): SharedMedia {
  const outputs = status.outputs.filter(hasUrl)
  const sources = outputs.flatMap(playable).toSorted((a, b) => browserPreference(a) - browserPreference(b))
  return {
    ...terms,
    poster_url: status.poster?.url ?? outputs.find(({ role }) => role === 'poster')?.url ?? null,
    aspect_ratio: aspectRatioOf(outputs),
    duration_seconds: outputs.find(({ media }) => media !== null)?.media?.duration_seconds ?? null,
    sources,
    storyboard_url: outputs.find(({ role }) => role === 'storyboard')?.url ?? null,
    captions: outputs
      .filter(({ role, content_type: type }) => role === 'captions' && type.startsWith('text/vtt'))
      .map(({ url, path }) => ({ url, language: null, label: nameOf(path) })),
    downloads: outputs
      .filter((output) => isFile(output) || output.role === 'tar')
      .map(({ url, path, size, content_type }) => ({ url, name: nameOf(path), size, content_type })),
  }
}

function playable(output: OutputWithUrl): Playable[] {
  const { path, url, content_type } = output
  const kind = MANIFESTS[nameOf(path)]
  if (kind === 'hls' || kind === 'dash') return [{ kind, url, content_type, label: LABELS[kind] }]
  if (!isFile(output) || !BROWSER_FILES.test(path)) return []
  return [{ kind: 'file', url, content_type, label: nameOf(path) }]
}

type OutputWithUrl = PublicOutput & { url: string }

function hasUrl(output: PublicOutput): output is OutputWithUrl {
  return output.url !== null
}

/** A downloadable file, not a rendition that consists of segments. */
function isFile({ role, segments }: PublicOutput): boolean {
  return role === 'media' && segments === undefined
}

interface WithDisplayAspect {
  media?: { video: { display_aspect_ratio: string } | null } | null
}

/**
 * The size of the frame that a page reserves for the player; null if no output has video, or its aspect ratio was not
 * measured.
 */
export function displaySizeOf(outputs: readonly WithDisplayAspect[]): { width: number; height: number } | null {
  const ratio = outputs.flatMap(({ media }) => media?.video?.display_aspect_ratio ?? [])[0]
  const [, width, height] = /^([1-9]\d{0,4}):([1-9]\d{0,4})$/.exec(ratio ?? '') ?? []
  return width && height ? { width: Number(width), height: Number(height) } : null
}

function aspectRatioOf(outputs: readonly WithDisplayAspect[]): number | null {
  const shape = displaySizeOf(outputs)
  return shape && Number((shape.width / shape.height).toFixed(4))
}

/** HLS first: it adapts to the connection and plays everywhere. Within a kind, the order of the outputs is kept. */
function browserPreference({ kind }: Playable): number {
  return ['hls', 'dash', 'file'].indexOf(kind)
}

/** HTML that can be pasted into a page. The title is untrusted text of a client. */
export function embedHtml(url: string, title: string, { width, height }: { width: number; height: number }): string {
  return `<iframe src="${escapeHtml(url)}" title="${escapeHtml(title)}" style="width:100%;aspect-ratio:${width}/${height};border:0" allow="autoplay; picture-in-picture" allowfullscreen></iframe>`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}
