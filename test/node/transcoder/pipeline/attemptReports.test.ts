// What an attempt reports in addition to its outputs, against the strict task API: the source, its poster, its log.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attemptLogSchema, MAX_LOG_BYTES } from '#contract/task/reportSchemas.ts'
import type { FfmpegPrograms } from '../../../../transcoder/ffmpeg/run.ts'
import { AttemptAbort } from '../../../../transcoder/errors.ts'
import { JobLog } from '../../../../transcoder/pipeline/jobLog.ts'
import { createLog } from '../../../../transcoder/log.ts'
import { stillScore, capturePreview } from '../../../../transcoder/analysis/sourcePreview.ts'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { ffmpeg, lavfi, meanColor, probeStream } from '../../../support/media/media.ts'
import { sendJson } from '../../../support/transcoder/fakeTaskApi.ts'
import {
  describeTask,
  makeSourceClip,
  runRequest,
  type TaskDescription,
} from '../../../support/transcoder/attemptFixture.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const tempDir = useTempDirectory()
let clip: Buffer
const taskApi = useTaskApi(() => clip)

const EVERYTHING = { source: true, preview: true, log: true }

beforeAll(async () => {
  clip = await makeSourceClip(fixtures, 2)
})
beforeEach(() => {
  taskApi.task = { ...describeTask({ container: 'mp4' }), accepts: EVERYTHING }
})

function dryRun(change: Partial<TaskDescription> = {}): void {
  taskApi.task = { ...taskApi.task!, kind: 'plan', ...change }
}

async function run(): Promise<void> {
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.breaches).toEqual([])
  expect(await fixtures.workDirEntries()).toEqual([])
}

describe('the source', () => {
  test('is reported before the plan, for jobs and dry runs', async () => {
    let before = -1
    taskApi.faults.plan = () => {
      before = taskApi.sources.length
      return false
    }
    await run()
    expect(before).toBe(1)
    expect(taskApi.sources).toMatchObject([
      {
        source: {
          formats: expect.arrayContaining(['mp4']) as string[],
          duration_seconds: 2,
          size_bytes: clip.length,
          video: { codec: 'h264', width: 320, height: 180, frame_rate: '25/1', scan: 'progressive', rotation: 0 },
          audio: [{ source_stream: 1, codec: 'aac', sample_rate: 48_000 }],
        },
      },
    ])
    dryRun()
    await run()
    expect(taskApi.sources).toHaveLength(2)
    expect(taskApi.estimated?.estimate.probe).toEqual(taskApi.sources[1]!.source)
  })

  test('is reported when planning fails', async () => {
    taskApi.task!.config.audioProfiles[0]!.source_stream = '3'
    await run()
    expect(taskApi.fails).toMatchObject([{ error: { code: 'audio_stream_missing' } }])
    expect(taskApi.sources).toMatchObject([{ source: { audio: [{ source_stream: 1 }] } }])
  })

  test('is reported by an attempt that follows a stored plan, if no earlier attempt did', async () => {
    await run()
    taskApi.task = { ...taskApi.task!, plan: taskApi.storedPlan, accepts: { ...EVERYTHING, preview: false } }
    await run()
    expect(taskApi.sources).toHaveLength(2)
  })
})

test('a service that accepts no reports is sent none', async () => {
  delete taskApi.task!.accepts
  await run()
  expect(taskApi.finished?.objects).toHaveLength(1)
  for (const operation of ['source', 'preview', 'log'] as const) expect(taskApi.counts.get(operation)).toBeUndefined()
})

test('what the service refuses fails no job', async () => {
  for (const operation of ['source', 'preview', 'log'] as const)
    taskApi.faults[operation] = ({ response }) => {
      sendJson(response, 400, { error: { code: 'invalid_request', message: 'no' } })
      return true
    }
  await run()
  expect(taskApi.fails).toEqual([])
  expect(taskApi.finished?.objects).toMatchObject([{ media: { video: { codec: 'h264' } } }])
})

describe('the poster', () => {
  test('is made during the analysis, and is available when planning fails', async () => {
    // If the reports were sent in turn, this would deadlock.
    taskApi.faults.source = async () => {
      await taskApi.waitFor(() => taskApi.previews.length > 0)
      return false
    }
    taskApi.task!.config.audioProfiles[0]!.source_stream = '3'
    await run()
    expect(taskApi.sources).toHaveLength(1)
    expect(taskApi.previews).toHaveLength(1)
    expect(taskApi.fails).toMatchObject([{ error: { code: 'audio_stream_missing' } }])
  })

  test('does not keep the encode waiting, and is there before the end', async () => {
    taskApi.faults.preview = async () => {
      await taskApi.waitFor(() => taskApi.beats.some(({ phase }) => phase === 'transcoding'))
      return false
    }
    let before = -1
    taskApi.faults.finish = () => {
      before = taskApi.previews.length
      return false
    }
    await run()
    expect(before).toBe(1)
    expect(taskApi.finished?.objects).toHaveLength(1)
  })

  /** Size and mean Y, U, V of the only poster. */
  async function poster(): Promise<{ size: string; mean: [number, number, number] }> {
    expect(taskApi.previews).toHaveLength(1)
    const path = tempDir.file('poster.jpg')
    await writeFile(path, taskApi.previews[0]!)
    const { width, height } = await probeStream(path, 'video')
    const raw = await ffmpeg(['-i', path, '-pix_fmt', 'yuv420p', '-f', 'rawvideo', '-'])
    const [luma, chroma] = [width * height, Math.ceil(width / 2) * Math.ceil(height / 2)]
    const mean = (from: number, length: number) => raw.subarray(from, from + length).reduce((a, b) => a + b, 0) / length
    const colors = [mean(0, luma), mean(luma, chroma), mean(luma + chroma, chroma)] as [number, number, number]
    return { size: `${width}x${height}`, mean: colors }
  }

  async function of(name: string, args: readonly string[]): Promise<Awaited<ReturnType<typeof poster>>> {
    const path = tempDir.file(name)
    await ffmpeg([...args, path])
    taskApi.source = { bytes: await readFile(path) }
    dryRun()
    await run()
    return poster()
  }
  const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']

  test('is small, and shows what is a tenth of the way in', async () => {
    // Red for one second of ten, then blue.
    const { size, mean } = await of('colors.mp4', [
      ...lavfi(
        'color=red:s=1280x720:r=25:d=0.8',
        'color=blue:s=1280x720:r=25:d=9.2,drawbox=w=400:h=400:c=white:t=fill',
      ),
      ...['-filter_complex', '[0][1]concat', '-g', '5', ...X264],
    ])
    expect(size).toBe('640x360')
    expect(mean[1]).toBeGreaterThan(160)
  })

  test('is not black where the source only begins so, with one key frame in all', async () => {
    const { mean } = await of('black.mp4', [
      ...lavfi('color=black:s=320x180:r=25:d=3', 'testsrc2=s=320x180:r=25:d=5'),
      ...['-filter_complex', '[0][1]concat', '-g', '1000', '-sc_threshold', '0', ...X264],
    ])
    expect(mean[0]).toBeGreaterThan(60)
  })

  test('is black where nothing else is to be had', async () => {
    const { mean } = await of('night.mp4', [...lavfi('color=black:s=320x180:r=25:d=2'), ...X264])
    expect(mean[0]).toBeLessThan(24)
  })

  test('is upright, with square pixels', async () => {
    const flat = tempDir.file('flat.mp4')
    await ffmpeg([...lavfi('testsrc2=s=320x180:r=25:d=1'), '-vf', 'setsar=2', ...X264, flat])
    expect((await of('sar.mp4', ['-i', flat, '-c', 'copy'])).size).toBe('640x180')
    taskApi.previews.length = 0
    const turned = ['-display_rotation:v:0', '90', '-i', flat, '-c', 'copy']
    // ffmpeg 6 and later write it by that option, older versions by metadata.
    const args = (await ffmpeg(['-h', 'full']).then(String)).includes('display_rotation')
      ? turned
      : ['-i', flat, '-c', 'copy', '-metadata:s:v:0', 'rotate=90']
    // No line is interpolated: a video of half the width keeps it.
    expect((await of('turned.mp4', args)).size).toBe('90x320')
  })

  test('of HDR has the colours that the job’s SDR output has', async (context) => {
    if (!fixtures.engine.features.zscale) context.skip('this ffmpeg cannot map HDR')
    const path = tempDir.file('hdr.ts')
    await ffmpeg([
      ...lavfi('color=gray:s=320x180:r=25:d=1'),
      ...['-vf', "format=yuv420p10le,geq=lum='300+X':cb=480:cr=540", '-c:v', 'libx265', '-preset', 'ultrafast'],
      ...['-x265-params', 'log-level=error:lossless=1:repeat-headers=1', '-colorspace', 'bt2020nc'],
      ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-color_range', 'tv', path],
    ])
    taskApi.source = { bytes: await readFile(path) }
    taskApi.task!.config.audioProfiles = []
    await run()
    const output = tempDir.file('sdr.mp4')
    await writeFile(output, taskApi.objects().get('out/v0.mp4')!)
    const { size, mean } = await poster()
    expect(size).toBe('320x180')
    const wanted = await meanColor(output)
    for (const [index, value] of mean.entries()) expect(Math.abs(value - wanted[index]!)).toBeLessThan(6)
  })

  test('of interlaced video has no comb', async () => {
    // Each field has one colour: combing would show lines of black and white.
    const { mean } = await of('fields.ts', [
      ...lavfi('color=black:s=320x180:r=50:d=2'),
      ...['-vf', "geq=lum='if(mod(N,2),235,16)':cb=128:cr=128,tinterlace=mode=interleave_top"],
      ...['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-b:v', '6M'],
    ])
    const rows = await ffmpeg(['-i', tempDir.file('poster.jpg'), '-pix_fmt', 'gray', '-f', 'rawvideo', '-'])
    const steps = Array.from({ length: 100 }, (_, line) =>
      Math.abs(rows[(line + 40) * 320]! - rows[(line + 41) * 320]!),
    )
    expect(Math.max(...steps), `mean ${mean[0]}`).toBeLessThan(100)
  })

  test('of a tiny source is as tiny', async () => {
    expect((await of('tiny.mp4', [...lavfi('testsrc2=s=16x16:r=25:d=1'), ...X264])).size).toBe('16x16')
  })

  test('of a source read sequentially needs no second download', async () => {
    taskApi.source = { bytes: clip, ranges: false, length: false }
    dryRun()
    await run()
    expect((await poster()).size).toBe('320x180')
    expect(taskApi.inputRanges).toHaveLength(1)
  })

  test('of a stream too large to store is the best frame of its first seconds, in one pass', async () => {
    const path = tempDir.file('late.ts')
    await ffmpeg([
      ...lavfi('color=black:s=320x180:r=25:d=2', 'testsrc2=s=320x180:r=25:d=20'),
      ...['-filter_complex', '[0][1]concat', '-g', '1000', ...X264, path],
    ])
    const purposes: string[] = []
    const watched = {
      ...fixtures.engine,
      onRun: ({ purpose, args }: { purpose: string; args: readonly string[] }) => {
        purposes.push(`${purpose} ${args.slice(args.indexOf('-t'), args.indexOf('-t') + 2).join(' ')}`)
        return () => undefined
      },
    }
    const options = { cwd: tempDir.path, signal: new AbortController().signal }
    const media = await probe(fixtures.engine, `file:${path}`, options)
    const picture = await capturePreview(watched, `file:${path}`, media, { ...options, seekable: false, threads: 1 })
    expect(purposes).toEqual(['make the poster -t 4'])
    taskApi.previews.push(Buffer.from(picture!))
    expect((await poster()).mean[0]).toBeGreaterThan(60)
  })

  test('is not made for a source without video, nor when the service asks for none', async () => {
    const path = tempDir.file('sound.m4a')
    await ffmpeg([...lavfi('sine=d=1'), path])
    taskApi.source = { bytes: await readFile(path) }
    await run()
    taskApi.source = { bytes: clip }
    taskApi.task!.accepts = { ...EVERYTHING, preview: false }
    await run()
    expect(taskApi.previews).toEqual([])
    expect(taskApi.counts.get('preview')).toBeUndefined()
  })

  test('is judged by its light and by what is in it', () => {
    const grey = (value: (index: number) => number) => stillScore(Uint8Array.from({ length: 1024 }, (_, i) => value(i)))
    expect(grey(() => 0)).toBe(0)
    expect(grey(() => 255)).toBe(0)
    expect(grey((index) => index % 8)).toBeLessThan(1)
    expect(grey((index) => index % 256)).toBeGreaterThan(1)
    expect(grey((index) => (index < 40 ? 255 : 0))).toBeLessThan(1)
  })
})

describe('the log', () => {
  test('has every command, with the encode while it runs, and no secret, address or path of the machine', async () => {
    taskApi.source = { bytes: await makeSourceClip(fixtures, 4) }
    await run()
    const encodes = taskApi.logs.map(({ commands }) => commands.find(({ purpose }) => purpose === 'encode')!.exit_code)
    expect(encodes).toEqual([null, 0])
    const log = taskApi.logs.at(-1)!
    expect(log.engine).toBe(fixtures.engine.version)
    const purposes = log.commands.map(({ purpose }) => purpose)
    expect([purposes[0], ...purposes.slice(1, 3).toSorted(), ...purposes.slice(3)]).toEqual([
      'probe the source',
      'make the poster',
      'read captions and audio headers',
      'encode',
      'probe an output',
    ])
    for (const { command, exit_code: code, seconds } of log.commands) {
      expect([code, seconds > 0]).toEqual([0, true])
      expect(command).toMatch(/^ff(mpeg|probe) .*-i ('http:\/\/loopback\/\*\*\*'|file:out\/0\.mp4)/)
    }
    expect(log.lines.map(({ message }) => message)).toContain('task accepted job=j-1')
    const text = JSON.stringify(taskApi.logs)
    for (const secret of [taskApi.token, taskApi.url, '127.0.0.1', fixtures.directory, fixtures.engine.ffmpeg, '/tmp/'])
      expect(text).not.toContain(secret)
    // The operator's log contains it in full.
    expect(fixtures.lines.join('')).toContain(fixtures.engine.ffmpeg)
  })

  test('of a dry run is sent before its end', async () => {
    let before = 0
    taskApi.faults.estimate = () => {
      before = taskApi.logs.length
      return false
    }
    dryRun()
    await run()
    expect(before).toBe(1)
    expect(taskApi.logs[0]!.commands.map(({ purpose }) => purpose)).toContain('make the poster')
  })

  test('of a failure says what failed, before the job has ended', async () => {
    let before = 0
    taskApi.faults.fail = () => {
      before = taskApi.logs.length
      return false
    }
    taskApi.source = { bytes: Buffer.from('no media at all'.repeat(100)) }
    await run()
    expect(taskApi.fails).toMatchObject([{ reason: 'failed', error: { code: 'source_not_media' } }])
    expect(before).toBe(1)
    const [log] = taskApi.logs
    expect(log!.commands).toMatchObject([{ purpose: 'probe the source', exit_code: 1 }])
    expect(log!.lines.at(-1)).toMatchObject({ message: expect.stringContaining('reason=failed code=source_not_media') })
    expect(log!.lines.map(({ level, message }) => `${level} ${message}`).join('\n')).toMatch(
      /warn probe the source: .*Invalid/,
    )
  })

  test.each([
    ['cancelled', () => void (taskApi.instruction = 'cancel')],
    ['interrupted', (halt: AbortController) => halt.abort(new AttemptAbort('interrupted'))],
  ] as const)('of an attempt that was %s in the middle of its encode', async (reason, act) => {
    taskApi.source = { bytes: await makeSourceClip(fixtures, 60) }
    taskApi.task = { ...describeTask({ container: 'mp4', quality: 'best', bitrates: [400, 300] }), accepts: EVERYTHING }
    const context = fixtures.context()
    const ended = runTask(runRequest(taskApi), context)
    await taskApi.waitFor(() => taskApi.beats.some(({ transcoded }) => transcoded > 0))
    act(context.controller)
    await ended
    expect(taskApi.fails).toMatchObject([{ reason }])
    const { commands, lines } = taskApi.logs.at(-1)!
    expect(commands.at(-1)).toMatchObject({ purpose: 'encode', exit_code: expect.not.stringMatching('0') as unknown })
    expect(lines.map(({ message }) => message)).toContain(`ended reason=${reason}`)
  })

  test('keeps within its bounds: the beginning and the end of what there was', () => {
    const log = new JobLog(['secret-token'])
    log.directory = '/scratch/attempt'
    const written: string[] = []
    const tee = log.tee(createLog((line) => void written.push(line)))
    for (let n = 0; n < 20_000; n++) tee.info(`line ${n} ${'ä'.repeat(100)}`, { token: 'secret-token', none: null })
    const programs: FfmpegPrograms = { ffmpeg: '/opt/ffmpeg', ffprobe: '/opt/ffprobe' }
    const { ffmpeg: program, onRun } = log.instrument(programs, () => undefined)
    for (let n = 0; n < 300; n++)
      onRun!({
        program,
        args: ['-i', `file:/scratch/attempt/out/${n}`, 'x'.repeat(2000), 'ftp://a.test/b'],
        purpose: `${n}`,
      })({
        code: n % 2,
        stderr: n === 299 ? 'the end in /etc/secret/file and https://a.test/?x' : '',
      })
    const told = log.snapshot()
    expect(attemptLogSchema.safeParse(told).success).toBe(true)
    expect(Buffer.byteLength(JSON.stringify(told))).toBeLessThanOrEqual(MAX_LOG_BYTES)
    expect(told.commands[0]).toMatchObject({
      purpose: '0',
      command: expect.stringMatching(/^ffmpeg -i file:out\/0 x+ \[address\]$/),
    })
    expect(told.commands.at(-1)).toMatchObject({ purpose: '299', exit_code: 1 })
    expect(told.lines[0]!.message).toBe(`line 0 ${'ä'.repeat(100)} token=***`)
    expect(told.lines.at(-1)!.message).toBe('299: the end in [path] and [address]')
    expect(written).toHaveLength(20_000)
  })
})
