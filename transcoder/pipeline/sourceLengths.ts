// In charge of: the lengths and the first picture of an open source.
// Not in charge of: how they are measured (analysis/mediaLength.ts).
import { measureLengths, withMeasuredLengths } from '../analysis/mediaLength.ts'
import { withFirstPicture } from '../analysis/firstPicture.ts'
import type { Attempt } from '../attempt.ts'
import type { MediaInfo } from '../plan/model/mediaInfo.ts'

/** They are measured if its clock seems to jump. Every part of a job has to find the same. */
export async function withLengths(
  { engine, loopback, workspace, controller }: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  media: MediaInfo,
  size: number | null,
): Promise<MediaInfo> {
  const { signal } = controller
  // A source that is read in order allows one connection only.
  if (!(await loopback.open()).ranges) return media
  const read = (first: number, count: number) => loopback.readRange(first, count, signal)
  const options = { signal, cwd: workspace.cwd }
  const measured = await withMeasuredLengths(engine, loopback.url, media, { read, size }, options)
  if (measured.clockJumps !== undefined && measured.formats.includes('flv')) loopback.readAsLive()
  return withFirstPicture(engine, loopback.url, measured, options)
}

/** By all of its packets; null = they cannot be read. */
export function measureSourceLengths(
  { engine, loopback, workspace, controller }: Pick<Attempt, 'engine' | 'loopback' | 'workspace' | 'controller'>,
  media: MediaInfo,
): Promise<MediaInfo | null> {
  return measureLengths(engine, loopback.url, media, { signal: controller.signal, cwd: workspace.cwd })
}
