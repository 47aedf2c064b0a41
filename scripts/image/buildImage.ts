// In charge of: building the transcoder's image locally.
// Not in charge of: its base (baseImage.ts), the image that `wrangler deploy` builds and pushes.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../local/localSettings.ts'
import { findBaseImage } from './baseImage.ts'
import { docker, succeeds } from './docker.ts'

export const IMAGE = 'splicepoint-transcoder'

export interface BuiltImage {
  id: string
  base: string
  /** Unpacked size, as Docker reports it. */
  bytes: number
  seconds: number
  buildArgs: Record<string, string>
}

/** @throws Error with docker's message */
export async function buildImage(env: NodeJS.ProcessEnv = process.env): Promise<BuiltImage> {
  const path = join(ROOT, 'transcoder/Dockerfile')
  const base = await findBaseImage(await readFile(path, 'utf8'), env)
  const registry = env['NPM_CONFIG_REGISTRY'] ? { NPM_CONFIG_REGISTRY: env['NPM_CONFIG_REGISTRY'] } : {}
  const buildArgs = { ...base.args, ...registry }
  const flags = Object.entries(buildArgs).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  // Docker without a bridge network can build only with the network of the host.
  if (!(await succeeds('network', 'inspect', 'bridge'))) flags.push('--network=host')
  const begun = performance.now()
  await docker('build', '--quiet', '--tag', IMAGE, '--file', path, ...flags, ROOT)
  const seconds = (performance.now() - begun) / 1000
  const [id = '', size] = (await docker('image', 'inspect', '--format', '{{.Id}} {{.Size}}', IMAGE)).split(' ')
  return { id, base: base.origin, bytes: Number(size), seconds, buildArgs }
}
