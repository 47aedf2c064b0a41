// In charge of: the command in a terminal of 80 columns (Python's pty), with every line that it draws.
// Not in charge of: what the commands do (commands.test.ts), lines of other widths (node/cli/output.test.ts).
import { rename } from 'node:fs/promises'
import { beforeAll, expect, test, type TestContext } from 'vitest'
import { widthOf } from '../../../../cli/text/terminal.ts'
import { findOnPath } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { fileResources } from '../../../support/fileResources.ts'
import { makeClip, tempDirectory } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { runProgram, SPLICEPOINT } from '../../../support/runProgram.ts'
import { Service } from '../../../support/service.ts'

const COLUMNS = 80
/** Runs a program on a pseudo-terminal and prints everything that the terminal received. */
const TERMINAL = `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
out = sys.stdout.buffer
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    out.write(data)
out.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

let service: Service
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  // Long enough for every phase to be visible; more than one chunk.
  const noise = { width: 640, height: 360, seconds: 5, filters: 'noise=alls=100:allf=t', flags: ['-crf', '4'] }
  await makeClip(tempDir.file('film.mp4'), noise)
  service = resources.use(await Service.start())
})

interface Shown {
  code: number | null
  /** Lines that were overwritten. */
  drawn: string[]
  /** The remaining lines. */
  lines: string[]
}

async function show(context: TestContext, args: string[], env: Record<string, string> = {}): Promise<Shown> {
  if ((await findOnPath('python3')) === null) skipTest(context, 'python3 is not installed')
  const command = [process.execPath, SPLICEPOINT, ...args]
  const known = { SPLICEPOINT_URL: service.base, SPLICEPOINT_KEY: service.ready.api_key, LC_ALL: 'C.UTF-8', ...env }
  const options = { cwd: tempDir.path, env: known }
  const { code, stdout } = await runProgram('python3', ['-c', TERMINAL, String(COLUMNS), ...command], options)
  const frames = stdout
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((row) => row.split('\r\u001B[2K'))
  return {
    code,
    drawn: frames.flat().filter((each) => each !== ''),
    lines: frames.map((each) => each.at(-1) ?? ''),
  }
}

/** Only addresses may be longer than the terminal is wide. */
function requireFitting({ drawn }: Shown): void {
  for (const line of drawn) if (!line.includes('://')) expect(widthOf(line), line).toBeLessThanOrEqual(COLUMNS)
  expect(drawn.join('\n')).not.toContain('\u001B')
}

test('upload, transcode, transfer and download are seen in one line each, and nothing goes over the edge', async (context) => {
  const shown = await show(context, ['submit', 'film.mp4', '-r', '360:2000', '-r', '180:400', '--download', 'out'])
  expect(shown.code, shown.drawn.join('\n')).toBe(0)
  requireFitting(shown)
  const bar = '[█░]{8,}'
  for (const figure of [
    `^Uploading +${bar} +0 % +0 of [\\d.]+ MB$`,
    `^Uploading +${bar} +100 % +([\\d.]+) of \\1 MB`,
    `^(Transcoding|Packaging|Storing|Finishing) +${bar} +\\d+ % +transfer +\\d+ %`,
    `^Downloading +${bar} +100 % .* 2 of 2 files$`,
  ]) {
    expect(
      shown.drawn.some((line) => new RegExp(figure).test(line)),
      `${figure}\n${shown.drawn.join('\n')}`,
    ).toBe(true)
  }
  expect(shown.lines.join('\n')).toMatch(
    /^Job 1$\nCompleted\n[\s\S]*^2 files \([\d.]+ [kM]B\) downloaded to out$\n^Job 1 completed in /m,
  )
})

test('lists are aligned and cut to the terminal', async (context) => {
  await rename(tempDir.file('film.mp4'), tempDir.file(`${'a long name '.repeat(6)}.mp4`))
  await show(context, ['submit', `${'a long name '.repeat(6)}.mp4`, '-r', '180:400'])
  for (const command of [['list'], ['uploads', 'list']]) {
    const shown = await show(context, command)
    requireFitting(shown)
    const [head = '', ...rows] = shown.lines.filter((line) => line !== '')
    expect(rows).toHaveLength(2)
    const at = head.indexOf('STATE')
    for (const row of rows) expect(row.slice(at - 1, at + 1), shown.lines.join('\n')).toMatch(/^ \S$/)
    expect(rows[0]).toContain('…')
  }
})

test('a dry run and the help are read without a wider window', async (context) => {
  for (const command of [
    ['submit', '--hls', '--dry-run', `${'a long name '.repeat(6)}.mp4`],
    ['--help'],
    ['submit', '-h'],
    ['limits'],
  ]) {
    const shown = await show(context, command)
    expect(shown.code).toBe(0)
    requireFitting(shown)
  }
})

test('where the terminal has ASCII alone, the bar is of ASCII', async (context) => {
  const { drawn } = await show(context, ['download', '1', '--to', 'again'], { LC_ALL: 'C' })
  expect(
    drawn.some((line) => /^Downloading +#{8,} +100 %/.test(line)),
    drawn.join('\n'),
  ).toBe(true)
})
