// ffmpeg after the process that started it was killed by SIGKILL.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { findOnPath } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { testFfmpeg, tempDirectory } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'

test('ffmpeg dies with a transcoder that is killed by SIGKILL', async (context) => {
  if ((await findOnPath('setpriv')) === null) skipTest(context, 'setpriv (util-linux) is not installed')
  await using tempDir = await tempDirectory()
  const programs = await testFfmpeg()
  const source = `
    import { runFfmpeg } from ${JSON.stringify(new URL('../../../../transcoder/ffmpeg/run.ts', import.meta.url).href)}
    import { readdirSync, readFileSync } from 'node:fs'
    const args = ['-nostdin', '-v', 'error', '-nostats', '-progress', 'pipe:1', '-re', '-f', 'lavfi', '-i', 'testsrc2=s=64x64', '-f', 'null', '-']
    let told = false
    void runFfmpeg(${JSON.stringify({ ffmpeg: programs.ffmpeg, ffprobe: programs.ffprobe })}, args, {
      cwd: ${JSON.stringify(tempDir.path)},
      onProgress: () => {
        if (told) return
        told = true
        const own = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ')
        console.log(own.join(' '))
      },
    })`
  const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) => createInterface({ input: parent.stdout }).once('line', resolve))
  const pids = line.split(' ').map(Number)
  expect(pids).toHaveLength(1)
  const command = await readFile(`/proc/${pids[0]}/comm`, 'utf8')
  expect(command.trim()).toBe('ffmpeg')
  parent.kill('SIGKILL')
  await expect
    .poll(async () => {
      const state = await readFile(`/proc/${pids[0]}/stat`, 'utf8').catch(() => ') Z')
      return state.slice(state.lastIndexOf(')') + 2)
    })
    .toMatch(/^Z/)
})
