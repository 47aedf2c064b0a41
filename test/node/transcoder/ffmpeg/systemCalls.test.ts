// In charge of: which files ffmpeg and ffprobe open and where they connect on hostile sources (I14), as the kernel
// reports it (strace).
// Not in charge of: how such jobs end (test/node/service/security/hostileSources.test.ts).
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { findOnPath } from '../../../../transcoder/ffmpeg/sandbox.ts'
import { probeSandbox } from '../../../../transcoder/ffmpeg/sandboxProbe.ts'
import type { Engine } from '../../../../transcoder/ffmpeg/locate.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { mutateBytes, seededRandom, inflatedHeaderInputs, textInputs } from '../../../support/media/hostileInputs.ts'
import { FakeTaskApi, sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import { skipTest } from '../../../support/requirement.ts'
import { describeTask, makeSourceClip, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const LONG = process.env['HOSTILE'] === 'long'
const fixtures = await useAttemptFixture()
let engine: Engine
let clip: Buffer
let strace: string | null
let runs = 0

beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 1)
  strace = await findOnPath('strace')
  const { sandbox } = await probeSandbox(fixtures.engine, fixtures.workDir)
  // strace writes a file too, so there is no file size limit, no separate user, and no temporary directory of its own.
  const bare = { user: null, privileges: [], prlimit: null, ownTempCommand: null }
  engine = { ...fixtures.engine, sandbox: { ...sandbox, ...bare } }
})

/** Programs that log the system calls with a file or an address. */
async function watched(log: string): Promise<Engine> {
  const wrap = async (name: 'ffmpeg' | 'ffprobe'): Promise<string> => {
    const path = join(fixtures.directory, `${name}-${runs}`)
    const calls =
      'trace=open,openat,openat2,creat,connect,bind,sendto,execve,unlink,unlinkat,rename,renameat2,mkdir,symlink,link'
    // Follows fork; each process has its own log file.
    const text = `#!/bin/sh\nexec '${strace}' -ff --seccomp-bpf -qq -s 400 -e '${calls}' -o '${log}-${name}' '${engine[name]}' "$@"\n`
    await writeFile(path, text, { mode: 0o755 })
    return path
  }
  return { ...engine, ffmpeg: await wrap('ffmpeg'), ffprobe: await wrap('ffprobe') }
}

/** What a program may read to start: libraries, its configuration, and information from the kernel. */
const SYSTEM =
  /^\/(usr|lib|lib64|etc\/(gcrypt|ld\.so|ssl|nsswitch|OpenCL|vulkan|fonts|pulse|localtime|gai\.conf)|proc\/(self|filesystems|cpuinfo|meminfo|stat|sys)|sys\/(devices|fs|kernel)|dev\/(null|urandom|random|shm|dri))/

interface Traced {
  programs: number
  /** Files outside the system's and the attempt's. */
  files: string[]
  /** Loopback ports, and any other addresses. */
  ports: Set<string>
  starts: string[]
}

async function traced(bytes: Buffer): Promise<Traced & { door: FakeTaskApi }> {
  const taskApi = await new FakeTaskApi({ bytes }).start()
  const log = `trace-${(runs += 1)}`
  try {
    taskApi.task = describeTask({ container: 'mp4' })
    // The Worker reads playlists, and refuses these.
    taskApi.faults.hls = ({ response }) => {
      sendJson(response, 422, { error: { code: 'source_damaged', message: 'The playlist is refused.' } })
      return true
    }
    await runTask(runRequest(taskApi), { ...fixtures.context(), engine: await watched(join(fixtures.directory, log)) })
  } finally {
    await taskApi.stop()
  }
  const names = (await readdir(fixtures.directory)).filter((name) => name.startsWith(`${log}-`))
  const found: Traced = { programs: names.length, files: [], ports: new Set(), starts: [] }
  for (const name of names) {
    for (const line of (await readFile(join(fixtures.directory, name), 'utf8')).split('\n')) {
      const path =
        /^(?:open|openat|openat2|creat|unlink|unlinkat|rename|renameat2|mkdir|symlink|link)\([^"]*"([^"]*)"/.exec(
          line,
        )?.[1]
      const inside = path === undefined || SYSTEM.test(path) || path.startsWith(`${fixtures.workDir}/splicepoint-`)
      if (!inside) found.files.push(path)
      if (/^(connect|bind|sendto)\(.*sa_family=AF_(INET|UNIX|INET6)/.test(line))
        found.ports.add(/htons\((\d+)\), sin_addr=inet_addr\("127\.0\.0\.1"\)/.exec(line)?.[1] ?? line)
      if (line.startsWith('execve(') && line.endsWith('= 0')) found.starts.push(/"([^"]*)"/.exec(line)![1]!)
    }
  }
  return { ...found, door: taskApi }
}

test(
  'only files of the attempt are opened, and only the loopback server is connected to',
  { timeout: 900_000 },
  async (context) => {
    if (strace === null) return skipTest(context, 'strace is not installed')
    const canary = join(fixtures.directory, 'canary')
    await writeFile(canary, 'CANARY')
    const next = seededRandom(7)
    const texts = textInputs({ url: 'http://127.0.0.1:9', file: canary })
    const inputs: [string, Buffer][] = [
      ['a clip', clip],
      ...texts.map(([name, text]): [string, Buffer] => [name, Buffer.from(text)]),
      ...inflatedHeaderInputs(clip),
      ...Array.from({ length: LONG ? 300 : 3 }, (_, n): [string, Buffer] => [`mutated ${n}`, mutateBytes(clip, next)]),
    ]
    // The short form has each way to name another file, and a few of the others.
    for (const [name, bytes] of LONG ? inputs : inputs.filter((_input, n) => n < 7)) {
      const { programs, files, ports, starts, door } = await traced(bytes)
      // Playlists are read by the service: no program may have opened one.
      if (name === 'a clip') expect([programs > 1, door.finished !== null, ports.size > 0]).toEqual([true, true, true])
      expect(files, name).toEqual([])
      expect(
        [...ports].filter((port) => !/^\d+$/.test(port)),
        name,
      ).toEqual([])
      expect(ports.size, `${name}: one gateway`).toBeLessThanOrEqual(1)
      expect(ports, name).not.toContain('9')
      expect(
        starts.filter((path) => path !== engine.ffmpeg && path !== engine.ffprobe),
        name,
      ).toEqual([])
    }
  },
)
