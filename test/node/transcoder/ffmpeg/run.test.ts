// One process: its environment, limits, watchdogs and end.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { explainExit } from '../../../../transcoder/ffmpeg/exit.ts'
import { locateEngine, parseVersion } from '../../../../transcoder/ffmpeg/locate.ts'
import { progressReader, type FfmpegProgress } from '../../../../transcoder/ffmpeg/progressReader.ts'
import { printableCommand } from '../../../../transcoder/ffmpeg/printableCommand.ts'
import { FfprobeError, runFfmpeg, runFfprobe } from '../../../../transcoder/ffmpeg/run.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()

/** An executable in place of ffmpeg. */
async function script(name: string, body: string): Promise<string> {
  const path = tempDir.file(name)
  await writeFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return path
}
const programs = (path: string) => ({ ffmpeg: path, ffprobe: path })

/** Gone, or a zombie that init has not collected yet. */
async function dead(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
  return state.slice(state.lastIndexOf(')') + 2).startsWith('Z')
}

describe('pipe outputs', () => {
  test('all of them arrive whole, at the same time', async () => {
    const both = await script('both', 'printf first >&3; printf second >&4')
    const texts: string[] = []
    const take = (index: number) => async (stream: AsyncIterable<Buffer>) => {
      for await (const chunk of stream) texts[index] = (texts[index] ?? '') + chunk.toString()
    }
    const result = await runFfmpeg(programs(both), [], { cwd: tempDir.path, pipeReaders: [take(0), take(1)] })
    expect([result.ended, result.code, ...texts]).toEqual(['exit', 0, 'first', 'second'])
  })
  test('a pipe reader that fails ends the process with its own error', async () => {
    const endless = await script('endless', 'while :; do printf 0123456789 >&3 || exit 1; done')
    const take = async (stream: AsyncIterable<Buffer>) => {
      for await (const chunk of stream) throw new Error(`no room for ${chunk.length > 0}`)
    }
    await expect(runFfmpeg(programs(endless), [], { cwd: tempDir.path, pipeReaders: [take] })).rejects.toThrow(
      'no room for true',
    )
  })
})

test('a SIGKILL from outside is an error of its own, of ffmpeg and of ffprobe', async () => {
  const killed = await script('killed', 'echo frame=1; printf some >&3; kill -KILL $$')
  const take = async (stream: AsyncIterable<Buffer>) => {
    for await (const _chunk of stream) void _chunk
    throw new Error('cut off')
  }
  const error = { name: 'EngineError', reason: 'killed' }
  await expect(runFfmpeg(programs(killed), [], { cwd: tempDir.path })).rejects.toMatchObject(error)
  await expect(runFfmpeg(programs(killed), [], { cwd: tempDir.path, pipeReaders: [take] })).rejects.toMatchObject(error)
  await expect(runFfprobe(programs(killed), [], { cwd: tempDir.path })).rejects.toMatchObject(error)
})

describe('running', () => {
  const lavfi = '-nostdin -v error -nostats -progress pipe:1 -stats_period 0.1 -re -f lavfi -i testsrc2=s=64x64'.split(
    ' ',
  )

  test('progress arrives and ends with the last report', async () => {
    const seen: FfmpegProgress[] = []
    const args = [...lavfi.filter((word) => word !== '-re'), '-t', '2', '-f', 'null', '-']
    const result = await runFfmpeg(await testFfmpeg(), args, {
      cwd: tempDir.path,
      onProgress: (report) => seen.push(report),
    })
    expect(result).toMatchObject({ ended: 'exit', code: 0, signal: null, progress: { frame: 50, end: true } })
    expect(result.progress?.outSeconds).toBeCloseTo(2, 1)
    expect(seen.at(-1)).toEqual(result.progress)
  })

  test('an abort ends ffmpeg', async () => {
    const stop = new AbortController()
    const result = await runFfmpeg(await testFfmpeg(), [...lavfi, '-f', 'null', '-'], {
      cwd: tempDir.path,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    })
    expect(result.ended).toBe('aborted')
  })

  test('an abort ends the whole group, even children that ignore SIGTERM', async () => {
    const stubborn = await script(
      'stubborn',
      'trap "" TERM\n(trap "" TERM; echo frame=$(sh -c \'echo $PPID\'); echo progress=continue; while :; do sleep 60; done) &\nwait',
    )
    const stop = new AbortController()
    let pid = 0
    const result = await runFfmpeg(programs(stubborn), [], {
      cwd: tempDir.path,
      signal: stop.signal,
      onProgress: (report) => {
        pid = report.frame
        stop.abort()
      },
    })
    expect(result).toMatchObject({ ended: 'aborted', signal: 'SIGKILL' })
    expect(pid).toBeGreaterThan(1)
    expect(await dead(pid)).toBe(true)
  })

  test('a signal that was aborted before is honoured', async () => {
    const result = await runFfmpeg(await testFfmpeg(), [...lavfi, '-f', 'null', '-'], {
      cwd: tempDir.path,
      signal: AbortSignal.abort(),
    })
    expect(result.ended).toBe('aborted')
  })

  test('reports that do not move are no progress', async () => {
    const stuck = await script('stuck', 'while :; do echo frame=7; echo out_time_us=1; echo progress=continue; done')
    // The time limit starts after the script does, which may take long on a busy machine.
    let begun = false
    const result = await runFfmpeg(programs(stuck), [], {
      cwd: tempDir.path,
      stallMs: 300,
      onProgress: () => (begun = true),
      isBlocked: () => !begun,
    })
    expect(result).toMatchObject({ ended: 'stalled', progress: { frame: 7 } })
  })

  test('one that is held back is not stuck, for as long as it is', async () => {
    const stuck = await script('held', 'while :; do echo frame=7; echo progress=continue; done')
    let asked = 0
    const isBlocked = () => (asked += 1) < 3
    const result = await runFfmpeg(programs(stuck), [], { cwd: tempDir.path, stallMs: 50, isBlocked })
    expect(result.ended).toBe('stalled')
    expect(asked).toBe(3)
  })

  test('nothing of our environment reaches it', async () => {
    process.env['SECRET_OF_OURS'] = 'x'
    const show = await script('show', 'env')
    const lines = (await runFfprobe(programs(show), [], { cwd: tempDir.path })).split('\n')
    const ofTheShell = new Set(['', 'PWD', 'OLDPWD', 'SHLVL', '_'])
    const names = lines.map((line) => line.split('=')[0] ?? '').filter((name) => !ofTheShell.has(name))
    expect(new Set(names)).toEqual(new Set(['GCONV_PATH', 'LANG', 'LC_ALL', 'PATH']))
  })

  test('limits are set by the kernel: no core, few files, a largest file', async () => {
    const show = await script('limits', 'ulimit -c; ulimit -n')
    expect(await runFfprobe(programs(show), [], { cwd: tempDir.path })).toBe('0\n256\n')
    const args = [
      ...['-nostdin', '-y', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:d=2', '-c:v', 'rawvideo'],
      ...['-f', 'rawvideo', `file:${tempDir.file('big')}`],
    ]
    const result = await runFfmpeg(await testFfmpeg(), args, {
      cwd: tempDir.path,
      limits: { fileBytes: 100_000 },
    })
    expect(explainExit(result)).toMatchObject({ code: 'output_too_large' })
  })

  test('stderr is a bounded tail without loopback addresses', async () => {
    const loud = await script(
      'loud',
      'i=0; while [ $i -lt 3000 ]; do echo "line $i of a very long complaint that nobody will ever read" >&2; i=$((i+1)); done; echo "http://127.0.0.1:4711/secret-token/input: refused" >&2; exit 1',
    )
    const result = await runFfmpeg(programs(loud), [], { cwd: tempDir.path })
    expect(result.stderr.length).toBeLessThanOrEqual(64 * 1024)
    expect(result.stderr).toContain('http://loopback/***')
    expect(result.stderr).not.toContain('secret-token')
    expect(result).toMatchObject({ ended: 'exit', code: 1 })
  })

  test('ffprobe that says too much, or nothing for too long, is ended', async () => {
    const endless = await script('endless', 'exec yes')
    await expect(runFfprobe(programs(endless), [], { cwd: tempDir.path })).rejects.toMatchObject({
      ended: 'too_much_output',
    })
    const silent = await script('silent', 'exec sleep 60')
    await expect(runFfprobe(programs(silent), [], { cwd: tempDir.path, timeoutMs: 50 })).rejects.toBeInstanceOf(
      FfprobeError,
    )
  })

  test('a program that cannot be started is thrown, not returned', async () => {
    const nowhere = join(tempDir.path, 'gone')
    await expect(runFfprobe(await testFfmpeg(), ['-version'], { cwd: nowhere })).rejects.toThrow(/ENOENT/)
  })
})

test('a command line can be pasted and carries no token', () => {
  expect(
    printableCommand('/usr/bin/ffmpeg', ['-i', 'http://127.0.0.1:80/token', '-vf', "a[b]='c'", 'file:/x.mp4']),
  ).toBe(String.raw`/usr/bin/ffmpeg -i 'http://loopback/***' -vf 'a[b]='\''c'\''' file:/x.mp4`)
})

describe('progress', () => {
  test('reports are read however they are cut, and N/A is nothing', () => {
    const seen: FfmpegProgress[] = []
    const read = progressReader((report) => seen.push(report))
    const text =
      'frame=0\nout_time_us=N/A\ntotal_size=N/A\nspeed=N/A\nprogress=continue\n' +
      'frame=25\nout_time_us=1000000\nout_time_ms=1000000\ntotal_size=48\nspeed=1.5x\nprogress=continue\n' +
      'frame=50\nout_time_us=-9223372036854775807\nspeed=   0x\nprogress=end\n'
    for (const character of text) read(character)
    expect(seen).toEqual([
      { outSeconds: 0, frame: 0, speed: null, totalBytes: null, end: false },
      { outSeconds: 1, frame: 25, speed: 1.5, totalBytes: 48, end: false },
      { outSeconds: 0, frame: 50, speed: 0, totalBytes: null, end: true },
    ])
  })
})

describe('how it ended', () => {
  const cases: [string, number | null, string | null, string, string | null][] = [
    ['success', 0, null, 'a warning', null],
    ['a full disk', 1, null, 'av_interleaved_write_frame(): No space left on device', 'disk_full'],
    [
      'no index',
      1,
      null,
      '[mov,mp4 @ 0x1] moov atom not found\nx: Invalid data found when processing input',
      'source_damaged',
    ],
    ['a stream without its header', 1, null, 'Could not open codec for input stream 1', 'source_damaged'],
    ['a playlist', 1, null, '[hls @ 0x1] Format not on whitelist', 'source_not_media'],
    ['a lost connection', 1, null, 'http://loopback/***: Connection refused', 'source_unreachable'],
    ['the file limit', null, 'SIGXFSZ', '', 'output_too_large'],
    ['a crash', null, 'SIGSEGV', '', 'encoder_failed'],
    [
      'a small reserve',
      0 + 1,
      null,
      '[mp4 @ 0x1] reserved_moov_size is too small, needed 3 additional',
      'output_incomplete',
    ],
    [
      'an end by the limit of processor time',
      255,
      null,
      'Invalid data found when processing input',
      'deadline_exceeded',
    ],
    ['anything else', 187, null, 'Something odd', 'encoder_failed'],
  ]
  test.each(cases)('%s', (_title, code, signal, stderr, expected) => {
    expect(explainExit({ code, signal, stderr })?.code ?? null).toBe(expected)
  })
})

test('exit code 255 within a moment is a separate error, not the CPU limit', () => {
  const ending = { code: 255, signal: null, stderr: 'x: Operation not permitted' }
  expect(explainExit({ ...ending, mayHaveReachedCpuLimit: false })?.code).toBe('encoder_failed')
  expect(explainExit({ ...ending, mayHaveReachedCpuLimit: true })?.code).toBe('deadline_exceeded')
})

describe('finding the programs', () => {
  test.each([
    ['ffmpeg version 5.1.9-0+deb12u1 Copyright\nlibavutil      57. 28.100 / 57. 28.100', '5.1.9-0+deb12u1', [57, 28]],
    [
      'ffmpeg version n7.0-7-gd38bf5e08e Copyright\nlibavutil      59.  8.100 / 59.  8.100',
      'n7.0-7-gd38bf5e08e',
      [59, 8],
    ],
    [
      'ffprobe version N-66595-gc2b38619c0-static https://x\nlibavutil      58. 14.100 / 58. 14.100',
      'N-66595-gc2b38619c0-static',
      [58, 14],
    ],
  ])('%s', (text, version, avutil) => {
    expect(parseVersion(text)).toEqual({ version, avutil })
  })
  test('something that is no ffmpeg has no version', () => {
    expect(parseVersion('hello')).toBeNull()
  })

  test('what this machine offers is complete', async () => {
    const found = await testFfmpeg()
    expect(found.version).not.toBe('')
    expect(found.features.zscale).toBe(true)
  })
  test('an explicit path that cannot do the work is an error that says what to install', async () => {
    const old = await script(
      'old',
      'echo "ffmpeg version 4.1 Copyright"; echo "libavutil      56. 22.100 / 56. 22.100"',
    )
    await expect(locateEngine({ FFMPEG_PATH: old })).rejects.toThrow(
      /FFMPEG_PATH=.*version 4\.1 is older than 5\.1.*apt-get install ffmpeg/,
    )
  })
  test('missing encoders and muxers are named', async () => {
    const poor = await script(
      'poor',
      'echo "ffmpeg version 7.1 Copyright"; echo "libavutil      59. 39.100 / 59. 39.100"; echo " V....D libx264 x"; echo " E mp4 x"',
    )
    await expect(locateEngine({ FFMPEG_PATH: poor })).rejects.toThrow(
      /lacks encoder libx265, encoder mpeg2video.*muxer mpegts/,
    )
  })
  test('one on PATH that is too old is passed over', async () => {
    await script('ffmpeg', 'echo "ffmpeg version 4.1 Copyright"; echo "libavutil      56. 22.100 / 56. 22.100"')
    const found = await locateEngine({ PATH: tempDir.path })
    expect(found.ffmpeg).toMatch(/node_modules/)
  })

  /** The real programs below another name, so that they are found there and examined. */
  async function onPath(path: string, avutil: string): Promise<string> {
    const { ffmpeg, ffprobe } = await locateEngine({})
    const said = `echo "ffmpeg version x"; echo "libavutil      ${avutil} / ${avutil}"`
    for (const [name, program] of Object.entries({ ffmpeg, ffprobe }))
      await script(name, `case "$*" in *-version*) ${said};; *) exec ${program} "$@";; esac`)
    return path
  }

  test.each([
    ['newer', '60. 1.100', 'PATH'],
    ['of the same version', '59. 8.100', 'PATH'],
    ['older', '57. 28.100', 'npm'],
  ])('one on PATH that is %s: the newer one is used, with the ffprobe from the same place', async (_, avutil, from) => {
    const path = await onPath(tempDir.path, avutil)
    const found = await locateEngine({ PATH: path })
    const directory = from === 'PATH' ? tempDir.path : 'node_modules'
    expect(found).toMatchObject({
      ffmpeg: expect.stringContaining(directory),
      ffprobe: expect.stringContaining(directory),
      ...(from === 'npm' ? { isFromNpm: true } : {}),
    })
    // One that is named is used, whatever its version.
    expect(await locateEngine({ PATH: path, FFMPEG_PATH: join(path, 'ffmpeg') })).toMatchObject({
      ffmpeg: join(path, 'ffmpeg'),
    })
  })
})
