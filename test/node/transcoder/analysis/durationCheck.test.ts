// Outputs that are wrong although ffmpeg ended well: packets of absurd length.
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { requireUsualPackets, whyShorter } from '../../../../transcoder/analysis/durationCheck.ts'
import { checkMp4 } from '../../../../transcoder/mp4FileCheck.ts'
import { shortPackets } from '../../../../transcoder/outputAnalysis/sampleTables.ts'
import { ffmpeg, lavfi } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const directory = useTempDirectory()

test('an mp4 whose packets have almost no duration is refused, and one as encoders write it is not', async () => {
  const path = directory.file('o.mp4')
  await ffmpeg([...lavfi('sine=440:r=48000:d=2'), '-c:a', 'aac', path])
  const check = async () => requireUsualPackets('o.mp4', await shortPackets(path, (await checkMp4(path)).boxes))
  await check()
  const bytes = await readFile(path)
  // stts: the number of runs, then packets and length of each. 20 packets of one sample, and the rest as they were.
  const runs = bytes.indexOf('stts') + 8
  expect(bytes.readUInt32BE(runs)).toBe(2)
  const packets = bytes.readUInt32BE(runs + 4) + bytes.readUInt32BE(runs + 12)
  for (const [index, value] of [20, 1, packets - 20, 1024].entries()) bytes.writeUInt32BE(value, runs + 4 + index * 4)
  await writeFile(path, bytes)
  await expect(check()).rejects.toThrow(/20 packets of audio with almost no duration, from 0\.000 s on/)
})

test('a clock that goes back is named where ffmpeg does not correct it', () => {
  const clockJumps = [{ atSeconds: 3, bySeconds: -2 }]
  expect(whyShorter({ formats: ['asf'], clockJumps })).toMatch(/goes back \(at 3\.00 s by 2\.00 s\).*end_seconds/)
  expect(whyShorter({ formats: ['mpegts'], clockJumps })).toContain('not all can be decoded')
  expect(whyShorter({ formats: ['asf'] })).toContain('not all can be decoded')
})
