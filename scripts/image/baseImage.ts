// In charge of: the base image: the one in the Dockerfile, or one made from Debian packages if no registry of images is
// reachable.
// Not in charge of: the image itself (buildImage.ts).
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { docker, succeeds } from './docker.ts'

const run = promisify(execFile)

export interface BaseImage {
  /** Build arguments. */
  args: Record<string, string>
  /** Where the base comes from, for people. */
  origin: string
}

const LOCAL_BASE = 'splicepoint-base:trixie'
const MADE_FOR_BUILD = 'splicepoint-build-base:trixie'
const MIRROR = 'http://deb.debian.org'
/** Debian's directory for certificate authorities that the administrator added. */
const AUTHORITIES = '/usr/local/share/ca-certificates'

/**
 * DOCKER_BASE from the environment; else the Dockerfile's base if it exists locally or can be pulled; else a generated
 * one.
 * @throws Error that says what is missing to generate one
 */
export async function findBaseImage(dockerfile: string, env: NodeJS.ProcessEnv): Promise<BaseImage> {
  const named = env['DOCKER_BASE']
  if (named) return { args: { BASE: named }, origin: `${named} (DOCKER_BASE)` }
  const own = /^ARG BASE=(\S+)$/m.exec(dockerfile)?.[1] ?? ''
  if (await succeeds('image', 'inspect', own)) return { args: {}, origin: own }
  if (await succeeds('pull', '--quiet', own)) return { args: {}, origin: `${own}, pulled` }
  const made = await succeeds('image', 'inspect', LOCAL_BASE, MADE_FOR_BUILD)
  if (!made) await make()
  return { args: { BASE: LOCAL_BASE, BUILD_BASE: MADE_FOR_BUILD }, origin: `${LOCAL_BASE}, made with debootstrap` }
}

/**
 * A minimal Debian 13 with its security updates. For the build it also contains this machine's certificate authorities.
 */
async function make(): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'splicepoint-base-'))
  try {
    const root = join(scratch, 'root')
    await run('debootstrap', ['--variant=minbase', 'trixie', root, `${MIRROR}/debian`], { maxBuffer: 2 ** 26 }).catch(
      (error: unknown) => {
        throw new Error(
          `No registry of images is reachable, and debootstrap made no base (as root: apt-get install debootstrap): ${String(error).slice(0, 500)}`,
          { cause: error },
        )
      },
    )
    const suites = [
      ['debian', 'trixie'],
      ['debian', 'trixie-updates'],
      ['debian-security', 'trixie-security'],
    ]
    const sources = suites.map(([archive, suite]) => `deb ${MIRROR}/${archive} ${suite} main\n`)
    await writeFile(join(root, 'etc/apt/sources.list'), sources.join(''))
    for (const directory of ['var/cache/apt', 'var/lib/apt/lists', 'var/log', 'usr/share/doc', 'usr/share/locale'])
      for (const name of await readdir(join(root, directory)))
        await rm(join(root, directory, name), { recursive: true, force: true })
    await importTree(root, LOCAL_BASE)
    // Only the stage that downloads packages needs them; the final image makes no TLS connections with them.
    await mkdir(join(root, AUTHORITIES), { recursive: true })
    for (const name of await readdir(AUTHORITIES).catch(() => []))
      await writeFile(join(root, AUTHORITIES, name), await readFile(join(AUTHORITIES, name)))
    await importTree(root, MADE_FOR_BUILD)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function importTree(root: string, name: string): Promise<void> {
  const archive = `${root}.tar`
  await run('tar', ['-C', root, '--numeric-owner', '-cf', archive, '.'])
  await docker('import', archive, name)
}
