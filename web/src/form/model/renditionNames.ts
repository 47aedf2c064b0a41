// In charge of: output names that contain the height: they follow it. Pure.
import { HEIGHT } from '#contract/limits.ts'

/** "video_1080p", 240: "video_240p". The first digits of a height being typed are not a valid height yet. */
export function renameForHeight(name: unknown, height: unknown): unknown {
  if (typeof name !== 'string' || typeof height !== 'number') return name
  if (!Number.isInteger(height) || height < HEIGHT.minimum || height > HEIGHT.maximum) return name
  return name.replace(/(?<![0-9a-z])\d{2,4}p(?![0-9a-z])/i, `${height}p`)
}
