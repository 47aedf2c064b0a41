// In charge of: archives that a real tar reads, and the byte ranges of each member.
// Not in charge of: sending them.
import { execFile } from 'node:child_process'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { TarLayout } from '../../../../transcoder/manifests/tar/tarLayout.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const run = promisify(execFile)
const { path: directory } = useTempDirectory()

function archive(members: readonly (readonly [string, Buffer])[]): { bytes: Buffer; layout: TarLayout } {
  const layout = new TarLayout()
  const parts = members.flatMap(([path, bytes]) => [
    layout.header(path, bytes.length),
    bytes,
    layout.padding(bytes.length),
  ])
  return { bytes: Buffer.concat([...parts, layout.end()]), layout }
}

it('is read by tar to the same bytes, with long and foreign names', async () => {
  const deep = `${'directory-of-some-length/'.repeat(5)}00001.m4s`
  const longer = `${'x'.repeat(120)}/${'y'.repeat(150)}.m4s`
  const members = [
    ['a.m3u8', Buffer.from('#EXTM3U\n')],
    [deep, Buffer.alloc(512, 1)],
    [longer, Buffer.alloc(513, 2)],
    ['vidéo/été 1.mp4', Buffer.alloc(5000, 3)],
    ['empty', Buffer.alloc(0)],
  ] as const
  const { bytes, layout } = archive(members)
  expect(bytes.length).toBe(layout.bytes)
  expect(archive(members).bytes.equals(bytes)).toBe(true)
  await writeFile(join(directory, 'a.tar'), bytes)
  const { stderr } = await run('tar', ['-xf', 'a.tar'], { cwd: directory, env: { ...process.env, LC_ALL: 'C.UTF-8' } })
  expect(stderr).toBe('')
  for (const [path, content] of members) {
    expect((await readFile(join(directory, path))).equals(content)).toBe(true)
    const { offset, bytes: length } = layout.ranges.get(path)!
    expect(bytes.subarray(offset, offset + length).equals(content)).toBe(true)
  }
})

it('has members beyond 8 GiB', async () => {
  const layout = new TarLayout()
  const size = 9 * 2 ** 30
  const file = await open(join(directory, 'large.tar'), 'w')
  const header = layout.header('large.ts', size)
  await file.write(header, 0, header.length, 0)
  const next = layout.header('small', 4)
  await file.write(next, 0, next.length, layout.ranges.get('small')!.offset - next.length)
  await file.write('abcd', layout.ranges.get('small')!.offset)
  const end = layout.end()
  await file.write(end, 0, end.length, layout.bytes - end.length)
  await file.close()
  const { stdout } = await run('tar', ['--numeric-owner', '-tvf', join(directory, 'large.tar')])
  expect(stdout.split('\n').map((line) => line.split(/\s+/).slice(2, 3)[0])).toEqual([`${size}`, '4', undefined])
})

it('holds a name once', () => {
  const layout = new TarLayout()
  layout.header('a', 1)
  expect(() => layout.header('a', 1)).toThrow('already')
})
