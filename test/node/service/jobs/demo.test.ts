import { appendFile, mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { runProgram, type ProgramResult } from '../../../support/runProgram.ts'
import { ROOT } from '../../../support/service.ts'

let tempDir: Awaited<ReturnType<typeof tempDirectory>>
beforeAll(async () => {
  tempDir = await tempDirectory()
  await mkdir(tempDir.file('tmp'))
})
afterAll(() => tempDir?.[Symbol.asyncDispose]())

/** Like `npm run demo -- FILE` from the scratch directory, which also holds its temporary files. */
function demo(...args: string[]): Promise<ProgramResult> {
  const env = { INIT_CWD: tempDir.path, TMPDIR: tempDir.file('tmp') }
  return runProgram(process.execPath, [join(ROOT, 'scripts/demo.ts'), ...args], { env })
}

test('a file with a space in its name and no audio is transcoded and checked, and leaves only the outputs', async () => {
  await makeClip(tempDir.file('my clip.mov'), { width: 640, height: 360, seconds: 2, audio: [] })
  const { code, stdout, stderr } = await demo('my clip.mov')
  expect(stderr).toBe('')
  expect(code).toBe(0)
  expect(stdout).toContain('640x360 h264, 2.00 s, every frame decodes')
  expect(stdout).toContain('All outputs passed the checks.')
  const [job] = await readdir(tempDir.file('out'))
  expect((await readdir(tempDir.file(`out/${job}`))).toSorted()).toEqual(['240p.mp4', '360p.mp4'])
  // Node's own compile cache may exist; our files must not.
  expect((await readdir(tempDir.file('tmp'))).filter((name) => name.startsWith('splicepoint-'))).toEqual([])
})

test('an unusable file is reported before anything starts', async () => {
  await writeFile(tempDir.file('large.mp4'), '')
  expect(await demo('large.mp4')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('is empty') })
  await truncate(tempDir.file('large.mp4'), 100_000_000_001)
  expect(await demo('large.mp4')).toMatchObject({ code: 1, stderr: expect.stringContaining('at most 100 GB') })
  expect(await demo('absent.mp4')).toMatchObject({ code: 1, stderr: expect.stringContaining('File not found') })
  await writeFile(tempDir.file('text.mp4'), 'text')
  expect(await demo('text.mp4')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a video') })
})

test('a file above the request limit is uploaded in chunks', async () => {
  await makeClip(tempDir.file('wide.mp4'), { width: 320, height: 180, seconds: 1 })
  // A box that players skip (ISO/IEC 14496-12, 8.1.2) makes the file large without more frames.
  const { size } = await stat(tempDir.file('wide.mp4'))
  const free = Buffer.from([0, 0, 0, 0, 0x66, 0x72, 0x65, 0x65])
  free.writeUInt32BE(101_000_000)
  await appendFile(tempDir.file('wide.mp4'), free)
  await truncate(tempDir.file('wide.mp4'), size + 101_000_000)
  const { code, stdout } = await demo('wide.mp4')
  expect(stdout).toMatch(/Uploading: \d+ %/)
  expect(stdout).toContain('All outputs passed the checks.')
  expect(code).toBe(0)
})
