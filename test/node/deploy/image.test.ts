// The transcoder's image: built from the Dockerfile, inspected, run without privileges on a network without internet
// access, and given real jobs by the real service. They run with CONTAINERS=docker, and fail then if no engine answers.
// The engine that CI prepares for test/containers cannot reach the internet from inside a build, so they are skipped
// there; scripts/test.ts lists them at the end.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildImage, type BuiltImage } from '../../../scripts/image/buildImage.ts'
import { docker, succeeds } from '../../../scripts/image/docker.ts'
import { selectDockerEngine } from '../../containers/dockerEngine.ts'
import { fileResources } from '../../support/fileResources.ts'
import { decodeFrames, makeClip, probeFile, tempDirectory } from '../../support/media/media.ts'
import { PausableFileServer } from '../../support/http/pausableFileServer.ts'
import { skipTest } from '../../support/requirement.ts'
import { jobRequest, ROOT, Service, waitFor } from '../../support/service.ts'
import { CONTAINER_FLAGS, IsolatedNetwork, TranscoderContainer } from './imageContainers.ts'

const MINUTE_MS = 60_000
const SECRET = randomBytes(32).toString('hex')
const MEMORY_MIB = 600

describe.skipIf(process.env['CONTAINERS'] !== 'docker')('the image (skipped unless CONTAINERS=docker)', () => {
  let image: BuiltImage
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  beforeAll(async () => {
    const engine = await selectDockerEngine()
    image = await buildImage()
    console.log(
      `Docker ${engine}: ${(image.bytes / 1e6).toFixed(0)} MB in ${image.seconds.toFixed(1)} s on ${image.base}`,
    )
    tempDir = await tempDirectory()
  }, 20 * MINUTE_MS)
  afterAll(() => tempDir?.[Symbol.asyncDispose]())

  const look = (script: string) =>
    docker('run', '--rm', '--network=none', '--entrypoint=/bin/sh', image.id, '-c', script)

  it('is small, and has nothing that only a build, a test or an intruder needs', async () => {
    expect(image.bytes).toBeLessThan(600e6)
    const tools = 'gcc cc c++ ld make npm npx python3 curl wget git ssh nc sudo'
    expect(await look(`for tool in ${tools}; do command -v $tool; done; true`)).toBe('')
    expect(await look('find / -xdev -type f -perm /6000 2>/dev/null; true')).toBe('')
    const files = (
      await look('cd /app && find . -type f -not -path "./node_modules/*/*" -not -path "./start/*"')
    ).split('\n')
    expect(files.filter((path) => !/^\.\/(transcoder|contract)\/.*\.ts$/.test(path))).toEqual(['./package.json'])
    expect(files.filter((path) => path.includes('.test.'))).toEqual([])
  })

  it('belongs to root, and its user may write in its scratch space alone', async () => {
    expect(await look('id -u; id -g')).toBe('10001\n10001')
    const writable = await look(
      'find / -xdev \\( -type f -o -type d \\) -writable 2>/dev/null | grep -vE "^/(proc|dev|sys)(/|$)"; true',
    )
    expect(writable.split('\n').toSorted()).toEqual(['/run/lock', '/tmp', '/var/tmp', '/work'])
    const { Env, User } = JSON.parse(await docker('inspect', '--format', '{{json .Config}}', image.id)) as {
      Env: string[]
      User: string
    }
    expect(User).toBe('transcoder')
    const settings =
      'PATH NODE_ENV FFMPEG_PATH FFPROBE_PATH FFMPEG_RECORD NODE_COMPILE_CACHE WORK_DIR HOST PORT DRAIN_SECONDS'
    expect(Env.map((pair) => pair.split('=')[0])).toEqual(settings.split(' '))
  })

  it('has fonts for burned-in captions, and a list of them that its user can read', async () => {
    const families = await look('fc-list : family')
    for (const family of [
      'Noto Sans',
      'Noto Sans Arabic',
      'Noto Sans Hebrew',
      'Noto Sans Devanagari',
      'Noto Sans CJK JP',
    ])
      expect(families).toContain(family)
    expect(await look('ls /var/cache/fontconfig/*.cache-* | wc -l')).not.toBe('0')
  })

  it('has the compiled code of every module that it runs, and may read it', async () => {
    // A normal start: code that was compiled with other V8 flags would be rejected.
    const script = `
      const child = require('child_process').spawn(process.execPath, ['transcoder/main.ts'], {
        env: { ...process.env, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child.stdout.on('data', (lines) => String(lines).includes('"transcoder":"ready"') && child.kill())`
    const output = await look(`node -e '${script.replaceAll("'", `'"'"'`)}' 2>&1`)
    const of = (what: RegExp) =>
      output
        .split('\n')
        .filter((line) => what.test(line))
        .flatMap((line) => /file:\/\/\/app\/(\S+\.ts)/.exec(line)?.slice(1) ?? [])
    expect(of(/was accepted/)).toEqual(expect.arrayContaining(['transcoder/runTask.ts', 'contract/task/protocol.ts']))
    expect(of(/was not initialized|was rejected|no transpile cache|denied/)).toEqual([])
  })

  it(
    'is what `wrangler deploy` builds',
    async (context) => {
      // wrangler uses BuildKit's flags. An engine that test/containers/start.sh prepared has a command that drops them.
      if (!process.env['WRANGLER_DOCKER_BIN'] && !(await succeeds('buildx', 'version')))
        skipTest(context, 'docker has no buildx plugin')
      const config = tempDir.file('wrangler.toml')
      const vars = Object.entries(image.buildArgs).map(([name, value]) => `${name} = "${value}"`)
      const text = (await readFile(join(ROOT, 'wrangler.toml'), 'utf8'))
        .replaceAll(/^(main|directory|migrations_dir|image) = "(?:\.\/)?(.*)"/gm, `$1 = "${ROOT}/$2"`)
        .replaceAll(/^(cwd|image_build_context) = "\."/gm, `$1 = "${ROOT}"`)
        .replace(/^image_build_context.*/m, `$&\nimage_vars = { ${vars.join(', ')} }`)
      await writeFile(config, text)
      const cli = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
      const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_CI_OVERRIDE_NETWORK_MODE_HOST: '1' }
      const args = [cli, 'deploy', '--dry-run', '--config', config, '--outdir', tempDir.file('dist')]
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env, maxBuffer: 2 ** 26 })
      expect(stdout).toContain('splicepoint-transcoder')
      expect(stdout).toContain('--dry-run: exiting now.')
    },
    10 * MINUTE_MS,
  )

  describe('without rights, internet or a file system to write to', () => {
    let enclosure: IsolatedNetwork
    let transcoder: TranscoderContainer
    let service: Service
    let media: PausableFileServer
    const flags = () => [
      ...CONTAINER_FLAGS,
      ...enclosure.dockerFlags,
      '--restart=on-failure',
      '--cpus=1',
      `--memory=${MEMORY_MIB}m`,
      `--memory-swap=${MEMORY_MIB}m`,
    ]
    const answering = () =>
      waitFor('the container to be ready', async () => {
        const health = await transcoder.health().catch(() => null)
        return health?.state === 'preparing' ? null : health
      })
    const exited = () =>
      waitFor('the container to end', async () => {
        const state = await transcoder.state()
        return state.Status === 'exited' ? state : null
      })
    const terminate = async () => {
      await docker('kill', '--signal=TERM', transcoder.id)
      await waitFor('the container to drain', async () => (await transcoder.health()).state === 'draining')
    }
    const resources = fileResources()
    beforeAll(async () => {
      const clip = await makeClip(tempDir.file('clip.mp4'), {
        seconds: 8,
        // No captions in this codec: the first process to read the held part is the encoder.
        flags: ['-c:v', 'mpeg4', '-q:v', '4', '-movflags', '+faststart'],
      })
      media = resources.use(await PausableFileServer.start(clip))
      enclosure = resources.use(await IsolatedNetwork.open())
      const begun = performance.now()
      transcoder = resources.use(await TranscoderContainer.start(image.id, SECRET, flags()))
      await answering()
      console.log(`ready ${(performance.now() - begun).toFixed(0)} ms after docker run`)
      service = resources.use(
        await Service.start({
          ALLOW_PRIVATE_HOSTS: media.host,
          TRANSCODER_URLS: transcoder.url,
          TRANSCODER_SECRET: SECRET,
          TASK_API_URL: enclosure.taskApiUrl,
        }),
      )
      enclosure.worker = service.base
    }, 5 * MINUTE_MS)

    const isWhole = async (id: number): Promise<void> => {
      const status = await service.waitForEnd(id)
      expect(status).toMatchObject({ state: 'ready', error: null, tcode_progress: '100', xfer_progress: '100' })
      const path = tempDir.file(`${id}.mp4`)
      await writeFile(path, Buffer.from(await (await fetch(status.outputs[0]?.url ?? '')).arrayBuffer()))
      expect(await decodeFrames(path)).toHaveLength(200)
      const { streams } = await probeFile(path)
      expect(streams.map(({ codec_name, width }) => [codec_name, width])).toEqual([
        ['h264', 320],
        ['aac', undefined],
      ])
    }
    /** A job whose source is held back after its middle, so that it is certainly running. */
    const halfway = async (): Promise<number> => {
      media.pauseAt(0.6)
      const id = await service.create(jobRequest(media.url, 'http'))
      await service.waitForEncoding(id)
      return id
    }
    const losses = async (id: number): Promise<string> => (await service.call(`/api/v0/job/${id}/events`)).text()

    it('says what it is, and has no right left', async () => {
      const { sandbox, ...health } = await answering()
      expect(health).toMatchObject({ state: 'idle', ffmpeg: expect.stringMatching(/^7\./) })
      // The others need a transcoder that runs as root, or namespaces, which Docker refuses.
      const missing = ['network', 'no_network_for_local_files', 'own_temp', 'own_user', 'processes', 'read_only_files']
      expect(Object.keys(sandbox.missing).toSorted()).toEqual(missing)
      expect(sandbox.in_force).toEqual(
        expect.arrayContaining(['memory', 'cpu_time', 'no_capabilities', 'no_new_privileges']),
      )
      const status = await transcoder.exec('cat', '/proc/1/status')
      for (const kind of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(status).toContain(`Cap${kind}:\t${'0'.repeat(16)}`)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      expect(status).toMatch(/^Seccomp:\t2$/m)
      await expect(transcoder.exec('touch', '/app/x')).rejects.toThrow(/Read-only file system/)
      await expect(transcoder.exec('touch', '/var/tmp/x')).rejects.toThrow(/Read-only file system/)
      // One CPU is granted, whatever the machine has.
      const settings = `import('/app/transcoder/settings.ts').then((m) => console.log(m.readSettings({}).threads))`
      expect(await transcoder.node(settings)).toBe(cpus().length > 1 ? '1' : '0')
      expect(await transcoder.logs()).not.toContain('ffmpeg is asked')
      expect((await transcoder.exec('cat', '/proc/1/cmdline')).split('\0')[0]).toBe('/usr/bin/tini')
    })

    it('passes a job through', async () => {
      const id = await service.create(jobRequest(media.url, 'http'))
      await isWhole(id)
      await waitFor('the scratch space to be empty', async () => (await transcoder.exec('ls', '/work')) === '')
      const zombies =
        "require('fs').readdirSync('/proc').filter((p) => /^\\d+$/.test(p)).map((p) => { try { return require('fs').readFileSync(`/proc/${p}/stat`, 'utf8') } catch { return '' } }).filter((s) => s.includes(') Z ')).length"
      expect(await transcoder.node(`console.log(${zombies})`)).toBe('0')
    })

    it(
      'finishes a nearly complete attempt on SIGTERM and exits by itself',
      async () => {
        const id = await halfway()
        await terminate()
        media.resume()
        expect(await exited()).toMatchObject({ ExitCode: 0 })
        await isWhole(id)
        expect(await losses(id)).not.toMatch(/interrupted|lost|evicted/)
        expect(await transcoder.logs()).toContain('"decision":"finish"')
        await docker('start', transcoder.id)
        await answering()
      },
      5 * MINUTE_MS,
    )

    it(
      'returns its task on a second SIGTERM',
      async () => {
        const id = await halfway()
        await terminate()
        await docker('kill', '--signal=TERM', transcoder.id)
        expect(await exited()).toMatchObject({ ExitCode: 0 })
        expect(await transcoder.logs()).toContain('a second signal was received')
        const waiting = await waitFor('the task to wait again', async () => {
          const status = await service.status(id)
          return status?.phase === 'queued' ? status : null
        })
        expect(waiting.error).toBeNull()
        await docker('start', transcoder.id)
        media.resume()
        await isWhole(id)
        expect(await losses(id)).toMatch(/interrupted|lost|evicted/)
      },
      5 * MINUTE_MS,
    )

    it(
      'ends when memory runs out, is started again, and the job with it',
      async () => {
        const id = await halfway()
        const { StartedAt } = await transcoder.state()
        // The kernel kills the process with the worst OOM score: the transcoder itself, not tini, ffmpeg or the process
        // that uses up the memory.
        await transcoder.exec(
          '/bin/sh',
          '-c',
          'for p in /proc/[2-9]*; do case $(tr "\\0" " " < $p/cmdline) in *transcoder/main.ts*) echo 1000 > $p/oom_score_adj;; esac; done',
        )
        await transcoder.node(`const all = []; for (;;) all.push(Buffer.alloc(2 ** 24, 1))`).catch(() => undefined)
        await waitFor('the engine to start it again', async () => {
          const state = await transcoder.state()
          return state.Status === 'running' && state.StartedAt !== StartedAt
        })
        await answering()
        media.resume()
        await isWhole(id)
        expect(await losses(id)).toMatch(/lost/)
      },
      5 * MINUTE_MS,
    )

    it('has connected to the task API only, through a network that blocks everything else', async () => {
      expect(enclosure.refused).toEqual([])
      const ask = (path: string) =>
        transcoder.node(`fetch('${enclosure.taskApiUrl}${path}').then((r) => console.log(r.status))`)
      expect(await ask('/task/1')).toBe('401')
      expect(await ask('/api/v0/job')).toBe('403')
    })
  })
})
