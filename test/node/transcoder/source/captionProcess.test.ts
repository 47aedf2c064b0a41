// Captions that cost more than they may end with a sentence, in a process of their own: this one is not affected.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CaptionError } from '../../../../transcoder/formats/captions/captionError.ts'
import { readCaptionsApart } from '../../../../transcoder/source/captionProcess.ts'
import { openWorkspace, type Workspace } from '../../../../transcoder/workspace.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
let workspace: Workspace
beforeAll(async () => void (workspace = await openWorkspace(tempDir.path)))
afterAll(async () => await workspace.remove())

const SRT = (text: string, count = 1) => Buffer.from(`1\n00:00:01,000 --> 00:00:02,000\n${text}\n\n`.repeat(count))
const read = async (bytes: Buffer, limits?: Parameters<typeof readCaptionsApart>[3]) =>
  readCaptionsApart(
    { engine: await testFfmpeg(), workspace, controller: new AbortController() },
    bytes,
    { format: null, offsetSeconds: 100 },
    limits,
  )

test('a file is read as in this process, and an error has its line', async () => {
  expect(await read(SRT('<i>é</i>'))).toMatchObject({
    format: 'srt',
    cues: [{ start: 101, end: 102, lines: [[{ text: 'é', italic: true }]] }],
  })
  await expect(read(Buffer.from('1\n00:00:01 --> x\ny'))).rejects.toMatchObject({ name: 'CaptionError', line: 2 })
})

const some = { cpuSeconds: 30, heapMib: 768, readMib: 32 }
test.each([
  ['processor time', { ...some, cpuSeconds: 1 }, /^Reading it takes more than 1 s of processor time/],
  ['memory', { ...some, heapMib: 24 }, /^Reading it takes more than 24 MiB of memory/],
  ['what is read', { ...some, readMib: 1 }, /^Its captions take more than 1 MiB/],
])('a limit of %s', async (_name, limits, message) => {
  // 80,000 captions of styled words.
  const error = await read(SRT('<b>a</b>b'.repeat(10), 80_000), limits).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(CaptionError)
  expect((error as Error).message).toMatch(message)
})
