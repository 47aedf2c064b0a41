// What a malicious program cannot do, by trying it (I14): in the sandbox that this machine permits, and without a
// separate user.
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sandboxedCommand, defaultLimits, processesOf, type Sandbox } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { explainExit } from '../../../../transcoder/ffmpeg/exit.ts'
import { probeSandbox, type SandboxReport } from '../../../../transcoder/ffmpeg/sandboxProbe.ts'
import { runFfmpeg, runFfprobe, type FfmpegPrograms, type RunOptions } from '../../../../transcoder/ffmpeg/run.ts'
import { openWorkspace, type Workspace } from '../../../../transcoder/workspace.ts'
import { testFfmpeg } from '../../../support/media/media.ts'
import { skipTest } from '../../../support/requirement.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const isRoot = process.getuid?.() === 0
/** Which users may run it, and that no run hides it, is the same on every machine. */
const shell: FfmpegPrograms = { ffmpeg: '/bin/sh', ffprobe: '/bin/sh' }
const tempDir = useTempDirectory()
let sandbox: Sandbox
let report: SandboxReport
let own: Workspace
beforeAll(async () => {
  const opened = await probeSandbox(shell, tempDir.path)
  sandbox = opened.sandbox
  report = opened.report
  own = await openWorkspace(tempDir.path, sandbox.user)
})
afterAll(async () => await own.remove())

/** A user of its own may not be allowed to read the directory of this one. */
const sandboxedFfmpeg = async () => {
  const programs = await testFfmpeg()
  return { ...programs, sandbox: (await probeSandbox(programs, tempDir.path)).sandbox }
}

/** A malicious program. */
const attack = (script: string, options: Partial<RunOptions> = {}) =>
  runFfmpeg({ ...shell, sandbox }, ['-c', script, 'sh'], { cwd: own.cwd, stallMs: 30_000, ...options })
const verdict = async (script: string, options: Partial<RunOptions> = {}) => {
  const result = await attack(script, options)
  return explainExit(result)?.code ?? result.stderr
}

const everywhere = ['process_group', 'environment']
const linux = ['cpu_time', 'file_size', 'memory', 'open_files', 'no_core_files', 'dies_with_transcoder']
const dropped = ['no_new_privileges', 'no_capabilities', 'ended_first_without_memory', 'lower_priority']

test('reports which sandbox measures are active on this machine, and why others are not', () => {
  expect(report.in_force).toEqual(expect.arrayContaining(everywhere))
  for (const [name, why] of Object.entries(report.missing)) expect(why, name).not.toBe('')
  expect([...report.in_force, ...Object.keys(report.missing)].toSorted()).toEqual(
    [
      ...everywhere,
      ...linux,
      ...dropped,
      'own_user',
      'read_only_files',
      'processes',
      'network',
      'no_network_for_local_files',
      'own_temp',
    ].toSorted(),
  )
})

test('all measures that Linux has are active, and a separate user if the transcoder is root', (context) => {
  const measures = [...linux, ...dropped, ...(isRoot ? ['own_user', 'own_temp'] : [])]
  const absent = measures.filter((name) => !report.in_force.includes(name))
  if (absent.length > 0) skipTest(context, absent.map((name) => `${name}: ${report.missing[name]}`).join(', '))
  expect(report.missing['own_user']).toBe(isRoot ? undefined : 'the transcoder is not root')
})

test('where there is no util-linux, nothing is lost but what it does, and that is said', async () => {
  vi.stubEnv('PATH', tempDir.path)
  try {
    const bare = await probeSandbox(shell, tempDir.path)
    expect(bare.report.in_force).toEqual(['environment', 'process_group'])
    expect(bare.report.missing).toMatchObject({
      cpu_time: 'prlimit (util-linux) is not installed',
      no_new_privileges: 'setpriv (util-linux) is not installed',
      no_network_for_local_files: 'unshare (util-linux) is not installed',
      lower_priority: 'nice is not installed',
    })
    expect(sandboxedCommand(bare.sandbox, '/f', ['-x'], { limits: defaultLimits, cwd: '/a/cwd' })).toEqual(['/f', '-x'])
  } finally {
    vi.unstubAllEnvs()
  }
})

test('a measure that works alone but not with the others is left out and reported', async () => {
  const bin = tempDir.file('bin')
  await mkdir(bin)
  const words = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
  await writeFile(join(bin, 'unshare'), `#!/bin/sh\ncase "$*" in *prlimit*) exit 1;; esac\n${words}\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`)
  try {
    const opened = await probeSandbox(await testFfmpeg(), tempDir.path)
    expect(opened.report.missing['no_network_for_local_files']).toBe(
      'it does not work together with the other measures',
    )
    expect(opened.report.in_force).toContain('cpu_time')
    expect(opened.report.in_force).not.toContain('no_network_for_local_files')
    expect(opened.sandbox.noNetworkCommand).toBeNull()
  } finally {
    vi.unstubAllEnvs()
  }
})

test('order of the wrappers: network namespace outermost, resource limits next to the program', () => {
  const whole: Sandbox = {
    prlimit: '/bin/prlimit',
    setpriv: '/bin/setpriv',
    privileges: ['--no-new-privs', '--reuid', '7'],
    niceCommand: ['/bin/nice', '-n', '5'],
    noNetworkCommand: ['/bin/unshare', '--net', '--'],
    ownTempCommand: ['/bin/sh', '-c', 'mount', 'sh'],
    user: { uid: 7, gid: 7 },
    memoryBytes: 9,
    maxProcesses: 3,
  }
  const limits = { ...defaultLimits, fileBytes: 0, cpuSeconds: 1.2 }
  expect(sandboxedCommand(whole, '/f', ['-i', 'file:/w/a/x'], { limits, cwd: '/w/a/cwd' }).join(' ')).toBe(
    '/bin/unshare --net -- /bin/sh -c mount sh /bin/nice -n 5 /bin/setpriv --no-new-privs --reuid 7 -- /bin/prlimit --core=0 --as=34359738368 --data=9 --fsize=0 --nofile=256 --nproc=3 --cpu=2:12 -- /f -i file:../x',
  )
  // The loopback server would be unreachable in a separate network namespace.
  expect(sandboxedCommand(whole, '/f', ['-i', 'http://127.0.0.1:1/x'], { limits, cwd: '/w/a/cwd' })[0]).toBe('/bin/sh')
})

describe.runIf(process.platform === 'linux')('an attack', () => {
  test('that burns time ends at the limit of the processor, as the job that it is', async () => {
    expect(await verdict('while :; do :; done', { limits: { cpuSeconds: 1 } })).toBe('deadline_exceeded')
    const endless = ['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=640x360', '-f', 'null', '-']
    const real = await runFfmpeg(await sandboxedFfmpeg(), endless, {
      cwd: own.cwd,
      limits: { cpuSeconds: 1 },
    })
    expect(explainExit(real)?.code).toBe('deadline_exceeded')
    const probing = runFfprobe({ ...shell, sandbox }, ['-c', 'while :; do :; done'], {
      cwd: own.cwd,
      limits: { cpuSeconds: 1 },
    })
    await expect(probing).rejects.toMatchObject({ signal: 'SIGXCPU' })
  })

  test('that fills the disk ends at the size of a file, and writes none where it has none to write', async () => {
    const big = join(own.out, 'big')
    const fill = 'exec dd if=/dev/zero of=../out/big bs=65536 count=1000 conv=notrunc'
    expect(await verdict(fill, { outputFiles: [big], limits: { fileBytes: 1_000_000 } })).toBe('output_too_large')
    expect((await stat(big)).size).toBeLessThanOrEqual(1_000_000)
    expect((await attack('echo x > ../out/new')).signal ?? 'refused').toMatch(/SIGXFSZ|refused/)
    expect(await readFile(join(own.out, 'new'), 'utf8').catch(() => '')).toBe('')
  })

  test('that allocates too much memory is refused, and the transcoder is not affected', async () => {
    const limits = { memoryBytes: 300 * 2 ** 20 }
    const buffer = 'exec dd if=/dev/zero of=/dev/null count=1 bs='
    expect(await attack(`${buffer}400M`, { limits })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/memory/),
    })
    expect(await attack(`${buffer}4M`, { limits })).toMatchObject({ code: 0 })
    expect(explainExit({ code: 1, signal: null, stderr: 'x: Cannot allocate memory' })?.message).toContain('memory')
  })

  test('that opens everything runs out of files', async () => {
    const opens = 'i=3; while [ $i -lt 400 ]; do eval "exec $i</dev/null" || exit 9; i=$((i+1)); done; echo all >&2'
    expect((await attack(opens.replaceAll('exec $i', 'exec 9'))).code).toBe(0)
    expect(await attack('ulimit -n >&2')).toMatchObject({ stderr: '256\n' })
  })

  test('on the network from a run on local files reaches nothing', async (context) => {
    if (sandbox.noNetworkCommand === null) return skipTest(context, report.missing['no_network_for_local_files']!)
    let hits = 0
    const trap = createServer((socket) => {
      hits++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(trap, 'listening')
    const { port } = trap.address() as AddressInfo
    const connect = ['-nostdin', '-v', 'error', '-i', `tcp://127.0.0.1:${port}`, '-f', 'null', '-']
    const programs = await sandboxedFfmpeg()
    const result = await runFfmpeg(programs, connect, { cwd: own.cwd })
    expect([result.code === 0, hits]).toEqual([false, 0])
    // The same command connects when the sandbox does not cut it off.
    await runFfmpeg({ ...programs, sandbox: { ...programs.sandbox, noNetworkCommand: null } }, connect, {
      cwd: own.cwd,
    })
    expect(hits).toBe(1)
    trap.close()
  })

  test('finds no right to regain and no core to dump', async () => {
    const { stderr } = await attack('while read -r name value; do echo "$name $value" >&2; done < /proc/self/status')
    expect(stderr).toMatch(/^NoNewPrivs: 1$/m)
    expect(stderr).toMatch(/^CapEff: 0000000000000000$/m)
    expect(stderr).toMatch(/^CapPrm: 0000000000000000$/m)
    if (isRoot) expect(stderr).toMatch(/^CapBnd: 0000000000000000$/m)
  })
})

describe.runIf(isRoot && process.platform === 'linux')('as a user of its own, an attack', () => {
  test('reads nothing of others, makes no file, and plants no link', async () => {
    await writeFile(join(own.root, 'secret'), 'CANARY', { mode: 0o600 })
    await writeFile(tempDir.file('other'), 'CANARY', { mode: 0o644 })
    const given = join(own.out, 'given')
    const script = [
      'cat ../secret ../../other /proc/$PPID/environ /proc/$PPID/mem 2>/dev/null >&2',
      'ln -s /etc/passwd ../out/link; ln -f /etc/hostname ../out/hard; rm ../out/given; mv ../out/given x; touch x ../x ../out/x',
      'kill -9 $PPID; echo out > ../out/given; id -u >&2',
    ].join('\n')
    const { stderr, code } = await attack(script, { outputFiles: [given] })
    expect(code).toBe(0)
    expect(stderr).not.toContain('CANARY')
    expect(stderr).toMatch(new RegExp(`^${sandbox.user?.uid}$`, 'm'))
    expect((await readdir(own.out)).filter((name) => ['link', 'hard', 'x'].includes(name))).toEqual([])
    expect(await readdir(own.cwd)).toEqual([])
    expect(await readFile(given, 'utf8')).toBe('out\n')
  })

  test('leaves nothing where anyone may write, and finds nothing of an earlier run there', async (context) => {
    if (sandbox.ownTempCommand === null) return skipTest(context, report.missing['own_temp']!)
    const places = ['/tmp', '/var/tmp', '/dev/shm']
    const given = join(own.out, 'shared')
    const plant = places.map((at) => `echo planted > ${at}/planted && cat ${at}/planted >&2`).join('\n')
    expect((await attack(plant, { outputFiles: [given] })).stderr).toBe('planted\n'.repeat(3))
    for (const place of places) expect(await readdir(place)).not.toContain('planted')
    expect((await attack(`ls -A ${places.join(' ')} >&2`)).stderr).not.toMatch(/planted|splicepoint/)
    // Nor can it fill the memory of the machine there.
    const fill = 'dd if=/dev/zero of=/dev/shm/big bs=1M count=64'
    expect((await attack(fill, { outputFiles: [given] })).stderr).toMatch(/No space left/)
    // Every other place is closed to it.
    const writable = await attack('find / -maxdepth 3 -type d -writable >&2 2> /dev/null')
    const others = writable.stderr
      .split('\n')
      .filter((path) => path !== '' && !/^\/(proc|run\/lock|dev\/mqueue)/.test(path))
    expect(others.toSorted()).toEqual(places.toSorted())
  })

  test('by forking meets the number of its processes', async () => {
    const few = { ...sandbox, maxProcesses: 20 }
    const bomb = 'i=0; while [ $i -lt 200 ]; do sleep 60 & i=$((i+1)); done; echo all >&2'
    const result = await runFfmpeg({ ...shell, sandbox: few }, ['-c', bomb], { cwd: own.cwd })
    expect(result.stderr).not.toContain('all')
    expect(explainExit(result)?.code).toBe('encoder_failed')
  })

  test('that leaves a process behind, outside of its group, does not hold the job and does not outlive it', async () => {
    const stray = 'setsid sh -c "trap \\"\\" TERM; sleep 300" & sleep 0.2; exit 0'
    const result = await attack(stray, { stallMs: 500 })
    expect(result.ended).toBe('stalled')
    await expect.poll(() => processesOf(sandbox.user!.uid)).toEqual([])
    const quiet = await attack('setsid sleep 300 > /dev/null 2>&1 & exit 0')
    expect(quiet.ended).toBe('exit')
    const passing = await openWorkspace(tempDir.path, sandbox.user)
    await passing.remove()
    await expect.poll(() => processesOf(sandbox.user!.uid)).toEqual([])
  })
})
