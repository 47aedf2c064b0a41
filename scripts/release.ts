// In charge of: `npm run release -- VERSION`: version and changelog, the commit and its tag, and the files to publish.
// Not in charge of: publishing. Nothing leaves this machine.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildImage, IMAGE } from './image/buildImage.ts'
import { docker, engineVersion } from './image/docker.ts'
import { ROOT } from './local/localSettings.ts'
import { releaseChangelog } from './release/changelog.ts'
import { requireNewer, withVersion } from './release/version.ts'

const USAGE = `Usage: npm run release -- VERSION [--date YYYY-MM-DD] [--no-image]

Dates the unreleased entries of CHANGELOG.md, sets the version, commits and tags both, and writes to dist/release/VERSION:
  splicepoint-VERSION.tgz          the npm package of the command
  splicepoint-client-VERSION.tgz   the npm package @splicepoint/client
  splicepoint-VERSION-docs.tar.gz  the site of docs/: unpack it over that of the version before
  splicepoint-VERSION-source.tar.gz  the sources of the tag
  splicepoint-VERSION-image.tar    the transcoder's image, unless --no-image
  packages.txt                     what the image consists of
  SHA256SUMS
`

const execute = promisify(execFile)
const run = async (program: string, ...args: string[]): Promise<string> =>
  (await execute(program, args, { cwd: ROOT, maxBuffer: 64e6 })).stdout.trim()
const git = (...args: string[]): Promise<string> => run('git', ...args)

interface Request {
  version: string
  date: string
  image: boolean
}

function readArguments(args: readonly string[]): Request | null {
  const rest = [...args]
  const at = rest.indexOf('--date')
  const [, date = new Date().toISOString().slice(0, 10)] = at < 0 ? [] : rest.splice(at, 2)
  const image = !rest.includes('--no-image')
  const [version, ...others] = rest.filter((each) => each !== '--no-image')
  if (version === undefined || others.length > 0 || !/^\d{4}-\d{2}-\d{2}$/.test(date)) return null
  return { version, date, image }
}

async function release({ version, date, image }: Request): Promise<void> {
  const { version: current } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const tags = await git('tag', '--list', 'v*')
  requireNewer(current, version, tags === '')
  if ((await git('status', '--porcelain')) !== '')
    throw new Error('There are changes that are not committed. Commit or remove them first.')
  if (image && (await engineVersion()) === null)
    throw new Error('No Docker engine answers here, so the image cannot be built. Start one, or use --no-image.')
  await change('CHANGELOG.md', (text) => releaseChangelog(text, version, date))
  for (const file of ['package.json', 'package-lock.json'])
    await change(file, (text) => withVersion(text, current, version))
  await change('client/python/pyproject.toml', (text) => text.replace(`"${current}"`, `"${version}"`))
  // The Worker cannot read package.json.
  await change('contract/version.ts', (text) => text.replace(`'${current}'`, `'${version}'`))
  await git('commit', '--quiet', '--all', '--message', `Release ${version}`)
  await git('tag', '--annotate', `v${version}`, '--message', `Splicepoint ${version}`)
  const out = join(ROOT, 'dist/release', version)
  await rm(out, { recursive: true, force: true })
  await mkdir(out, { recursive: true })
  try {
    await writeFiles(out, version, image)
  } catch (error) {
    await git('tag', '--delete', `v${version}`)
    await git('reset', '--quiet', '--hard', 'HEAD~1')
    throw error
  }
  process.stdout.write(`${(await readdir(out)).map((name) => join('dist/release', version, name)).join('\n')}\n`)
  process.stdout.write(
    `\nTagged v${version}. Nothing was published. To publish: git push --follow-tags; npm publish each .tgz; npm run deploy.\n`,
  )
}

async function change(file: string, edit: (text: string) => string): Promise<void> {
  const path = join(ROOT, file)
  await writeFile(path, edit(await readFile(path, 'utf8')))
}

async function writeFiles(out: string, version: string, image: boolean): Promise<void> {
  await run(process.execPath, join(ROOT, 'scripts/package.ts'), out)
  const archive = (what: string) => join(out, `splicepoint-${version}-${what}.tar`)
  await git(
    'archive',
    '--format=tar',
    `--prefix=splicepoint-${version}/`,
    `--output=${archive('source')}`,
    `v${version}`,
  )
  // The latest version at the root, then the same in a folder of its own.
  for (const base of ['/', `/${version}/`]) await run(process.execPath, 'scripts/build.ts', 'docs', '--base', base)
  const time = await git('log', '-1', '--format=%ct')
  const same = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX,u+w,go-w']
  await run('tar', ...same, '--create', `--file=${archive('docs')}`, '--directory=dist/docs', '.')
  // Without the name and time that gzip would store, the same tag gives the same bytes.
  await run('gzip', '--no-name', '--best', archive('source'), archive('docs'))
  if (image) await writeImage(out, version)
  const lines: string[] = []
  for (const name of (await readdir(out)).toSorted())
    lines.push(
      `${createHash('sha256')
        .update(await readFile(join(out, name)))
        .digest('hex')}  ${name}`,
    )
  await writeFile(join(out, 'SHA256SUMS'), `${lines.join('\n')}\n`)
}

/** The packages are listed, because another build gets the updates that the distribution has then. */
async function writeImage(out: string, version: string): Promise<void> {
  const { id } = await buildImage()
  const tagged = `${IMAGE}:${version}`
  await docker('tag', id, tagged)
  await docker('save', '--output', join(out, `splicepoint-${version}-image.tar`), tagged)
  const query = ['dpkg-query', '--show', '--showformat', '${Package} ${Version}\\n']
  const packages = await docker('run', '--rm', '--network=none', '--entrypoint', query[0]!, tagged, ...query.slice(1))
  await writeFile(join(out, 'packages.txt'), `${packages}\n`)
}

const request = readArguments(process.argv.slice(2))
if (request === null) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else {
  try {
    await release(request)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
