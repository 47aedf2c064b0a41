// In charge of: a still and the size of a file that this browser can decode, before it is uploaded.
// Not in charge of: the authoritative analysis, which the service does (../form/model/sourceAnalysis.ts).

export interface Preview {
  /** An object URL; `release` revokes it. */
  url: string
  width: number
  height: number
  durationSeconds: number
}

const LONGEST_SIDE = 640

/** null = the browser cannot decode the file; the service may still be able to. */
export async function previewOf(file: File, signal: AbortSignal): Promise<Preview | null> {
  const source = URL.createObjectURL(file)
  const video = document.createElement('video')
  try {
    video.muted = true
    video.preload = 'auto'
    const known = happened(video, 'loadedmetadata', signal)
    video.src = source
    await known
    const { videoWidth: width, videoHeight: height, duration } = video
    if (width === 0 || height === 0) return null
    const shown = happened(video, 'seeked', signal)
    video.currentTime = Number.isFinite(duration) ? duration / 10 : 0
    await shown
    const scale = Math.min(1, LONGEST_SIDE / Math.max(width, height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(width * scale))
    canvas.height = Math.max(1, Math.round(height * scale))
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.8))
    if (blob === null || signal.aborted) return null
    return { url: URL.createObjectURL(blob), width, height, durationSeconds: duration }
  } catch {
    return null
  } finally {
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(source)
  }
}

function happened(video: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    video.addEventListener(event, () => resolve(), { once: true })
    video.addEventListener('error', () => reject(new Error('not decodable here')), { once: true })
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
  })
}
