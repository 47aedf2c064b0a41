// In charge of: `npm run release` in a copy of the checkout: version, changelog, tag, the same files twice, and refusals
// that change nothing.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { releaseChangelog } from '../../../scripts/release/changelog.ts'
import { requireNewer, withVersion } from '../../../scripts/release/version.ts'
import { ROOT } from '../../support/service.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const execute = promisify(execFile)
const TIME = '2026-01-31T12:00:00Z'
const author = { name: 'Release test', email: 'release@test.invalid' }
const env = {
  ...process.env,
  GIT_AUTHOR_DATE: TIME,
  GIT_COMMITTER_DATE: TIME,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: author.name,
  GIT_AUTHOR_EMAIL: author.email,
  GIT_COMMITTER_NAME: author.name,
  GIT_COMMITTER_EMAIL: author.email,
}
const run = (cwd: string, program: string, ...args: string[]) => execute(program, args, { cwd, env, maxBuffer: 64e6 })

/** The files of this checkout as they are now, in a repository of one commit. */
async function copyCheckout(name: string): Promise<string> {
  const copy = tempDir.file(name)
  const { stdout } = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 64e6,
  })
  for (const file of stdout.split('\0').filter((path) => path !== '')) {
    await mkdir(dirname(join(copy, file)), { recursive: true })
    await copyFile(join(ROOT, file), join(copy, file)).catch((error: NodeJS.ErrnoException) => {
      // Deleted, but not yet committed.
      if (error.code !== 'ENOENT') throw error
    })
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  await run(copy, 'git', 'init', '--quiet')
  // A directory pattern of .gitignore does not match a symbolic link.
  await writeFile(join(copy, '.git/info/exclude'), 'node_modules\n')
  await run(copy, 'git', 'add', '--all')
  await run(copy, 'git', 'commit', '--quiet', '--message', 'Everything')
  return copy
}

const releaseIn = (copy: string, ...args: string[]) =>
  run(copy, process.execPath, join(copy, 'scripts/release.ts'), ...args)

let copy = ''
beforeAll(async () => {
  copy = await copyCheckout('first')
}, 120_000)

test('a release has a version, a date, a tag, and files with the same bytes each time', async () => {
  const { stdout } = await releaseIn(copy, '7.8.9', '--date', '2026-01-31', '--no-image')
  expect(stdout).toContain('Nothing was published')
  for (const file of ['package.json', 'package-lock.json'])
    expect(JSON.parse(await readFile(join(copy, file), 'utf8'))).toMatchObject({ version: '7.8.9' })
  expect(await readFile(join(copy, 'client/python/pyproject.toml'), 'utf8')).toContain('\nversion = "7.8.9"\n')
  const changelog = await readFile(join(copy, 'CHANGELOG.md'), 'utf8')
  expect(changelog).toMatch(/## \[Unreleased\]\n\n## \[7\.8\.9\] - 2026-01-31\n\n### Added\n/)
  expect((await run(copy, 'git', 'tag', '--list', '--format=%(objecttype) %(refname:short)')).stdout).toBe(
    'tag v7.8.9\n',
  )
  expect((await run(copy, 'git', 'status', '--porcelain')).stdout).toBe('')
  const out = join(copy, 'dist/release/7.8.9')
  expect((await readdir(out)).toSorted()).toEqual([
    'SHA256SUMS',
    'splicepoint-7.8.9-docs.tar.gz',
    'splicepoint-7.8.9-source.tar.gz',
    'splicepoint-7.8.9.tgz',
    'splicepoint-client-7.8.9.tgz',
  ])
  await run(out, 'sha256sum', '--check', '--strict', 'SHA256SUMS')
  const listed = await run(out, 'tar', '-tzf', 'splicepoint-7.8.9-source.tar.gz')
  expect(listed.stdout).toContain('splicepoint-7.8.9/worker/index.ts\n')
  expect(listed.stdout).not.toContain('node_modules')
  const docs = (name: string) => run(out, 'tar', '-xzOf', 'splicepoint-7.8.9-docs.tar.gz', name)
  expect(JSON.parse((await docs('./versions.json')).stdout)).toEqual([
    { name: 'latest', path: '' },
    { name: '7.8.9', path: '7.8.9/' },
  ])
  expect((await docs('./7.8.9/audio.html')).stdout).toContain('"/7.8.9/assets/')

  const second = await copyCheckout('second')
  await releaseIn(second, '7.8.9', '--date', '2026-01-31', '--no-image')
  const sums = await Promise.all(
    [copy, second].map((each) => readFile(join(each, 'dist/release/7.8.9/SHA256SUMS'), 'utf8')),
  )
  expect(sums[1]).toBe(sums[0])
  await expect(releaseIn(copy, '7.8.9', '--no-image')).rejects.toMatchObject({
    stderr: '7.8.9 is not above the current version 7.8.9.\n',
  })
})

test('uncommitted changes are refused, and nothing changes', async () => {
  const before = (await run(copy, 'git', 'rev-parse', 'HEAD')).stdout
  await writeFile(join(copy, 'note.txt'), 'x')
  await expect(releaseIn(copy, '99.0.0', '--no-image')).rejects.toMatchObject({
    code: 1,
    stderr: 'There are changes that are not committed. Commit or remove them first.\n',
  })
  expect((await run(copy, 'git', 'rev-parse', 'HEAD')).stdout).toBe(before)
  expect((await run(copy, 'git', 'status', '--porcelain')).stdout).toBe('?? note.txt\n')
})

test.each([[[]], [['1.2.3', '4.5.6']], [['1.2.3', '--date', 'today']]])('%j shows the usage', async (args) => {
  await expect(releaseIn(copy, ...args)).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Usage') })
})

describe('the changelog', () => {
  const text =
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n#### Media\n\n- One.\n\n#### Web\n\n### Fixed\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n'

  test('what was unreleased gets the version and its date; headings without entries go', () => {
    expect(releaseChangelog(text, '0.2.0', '2026-02-01')).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n\n### Added\n\n#### Media\n\n- One.\n\n## [0.1.0] - 2026-01-01\n\n- Old.\n',
    )
  })

  test('a second section of one version, and a release of nothing, are refused', () => {
    expect(() => releaseChangelog(text, '0.1.0', '2026-02-01')).toThrow('already has a section 0.1.0')
    const released = releaseChangelog(text, '0.2.0', '2026-02-01')
    expect(() => releaseChangelog(released, '0.3.0', '2026-03-01')).toThrow('nothing to release')
  })
})

test.each([
  ['0.1.0', '0.1.0', true, true],
  ['0.1.0', '0.1.0', false, false],
  ['0.1.9', '0.1.10', false, true],
  ['1.0.0', '0.9.0', false, false],
  ['1.0.0', 'v1.1.0', false, false],
  ['1.0.0', '1.1', false, false],
])('from %s to %s (first: %s) is allowed: %s', (current, next, isFirst, isAllowed) => {
  const check = () => requireNewer(current, next, isFirst)
  if (isAllowed) expect(check).not.toThrow()
  else expect(check).toThrow(next)
})

test('a dependency of the same version keeps it', () => {
  const lock =
    '{"version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"version": "1.0.0"}, "a": {"version": "1.0.0"}}}'
  expect(withVersion(lock, '1.0.0', '1.1.0')).toBe(lock.replace('1.0.0', '1.1.0').replace('1.0.0', '1.1.0'))
})
