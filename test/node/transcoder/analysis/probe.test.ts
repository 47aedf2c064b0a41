// What the probe reports about a source, and the error of an unusable one. Also: the input allowlist permits real media
// and nothing else.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { fileInputFlags, httpInputFlags } from '../../../../transcoder/ffmpeg/inputAllowlist.ts'
import { runFfmpeg } from '../../../../transcoder/ffmpeg/run.ts'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { ffmpeg, lavfi, makeClip, sharedClip, testFfmpeg } from '../../../support/media/media.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
let clip = ''
beforeAll(async () => {
  clip = await makeClip(tempDir.file('a.mp4'), { seconds: 1, audio: [2, 6] })
})

const look = async (path: string) => probe(await testFfmpeg(), `file:${path}`, { cwd: tempDir.path })

/** A server for the files of the workspace that answers ranges, as the loopback server does. */
async function serve(): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    void readFile(tempDir.file((request.url ?? '/').slice(1))).then(
      (bytes) => {
        const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
        response.writeHead(request.headers.range === undefined ? 200 : 206, {
          'content-length': bytes.length - from,
          'accept-ranges': 'bytes',
          'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
        })
        return response.end(bytes.subarray(from))
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

describe('probing', () => {
  test('a stream without parameter sets is video that cannot be decoded, not a source without video', async () => {
    const path = tempDir.file('cut.ts')
    const run = ['-f', 'lavfi', '-i', 'testsrc2=s=64x64:d=1', '-c:v', 'libx264', '-f', 'mpegts', path]
    await ffmpeg(run)
    const bytes = await readFile(path)
    // SPS (7) and PPS (8) become filler (12).
    for (let at = bytes.indexOf('000001', 0, 'hex'); at >= 0; at = bytes.indexOf('000001', at + 3, 'hex'))
      if ([7, 8].includes(bytes[at + 3]! & 31)) bytes[at + 3] = 12
    await writeFile(path, bytes)
    await expect(look(path)).rejects.toMatchObject({
      code: 'source_not_media',
      message: expect.stringMatching(/no picture that can be decoded .*1 video stream, h264, without parameter sets/),
    })
  })

  test('an mp4 is read with size, rate and channels', async () => {
    expect(await look(clip)).toMatchObject({
      formats: expect.arrayContaining(['mp4']),
      video: {
        codec: 'h264',
        width: 320,
        height: 180,
        frameRate: { num: 25, den: 1 },
        variableFrameRate: false,
        fieldOrder: 'progressive',
        sar: { num: 1, den: 1 },
      },
      audio: [
        { number: 1, channels: 2, sampleRate: 48000 },
        { number: 2, channels: 6 },
      ],
      other: [],
    })
  })

  test('cover art is left to the others', async () => {
    const song = tempDir.file('song.mp4')
    const cover = tempDir.file('cover.png')
    await ffmpeg([...lavfi('color=red:s=64x64'), '-frames:v', '1', cover])
    await ffmpeg(`-i ${clip} -i ${cover} -map 0 -map 1 -c copy -disposition:v:1 attached_pic ${song}`.split(' '))
    const media = await look(song)
    expect(media.video?.codec).toBe('h264')
    expect(media.other).toMatchObject([{ index: 3, type: 'cover art', codec: 'png', language: null }])
  })

  test.each([
    ['text named .mp4', 'Dear reader, this is not a film.\n'.repeat(100), 'source_not_media'],
    ['nothing at all', '', 'source_not_media'],
    ['a web page', '<!doctype html><html><body>Sign in</body></html>', 'source_not_media'],
    [
      'a playlist named .mp4',
      '#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n',
      'source_not_media',
    ],
    ['a concat script', "ffconcat version 1.0\nfile 'a.mp4'\n", 'source_not_media'],
  ])('%s is refused', async (title, text, code) => {
    const path = tempDir.file(`${title.replaceAll(/\W/g, '_')}.mp4`)
    await writeFile(path, text)
    await expect(look(path)).rejects.toMatchObject({ name: 'TaskError', code })
  })

  test('an mp4 that was cut before its moov is source_damaged with a clear message', async () => {
    const path = tempDir.file('cut.mp4')
    await writeFile(path, (await readFile(clip)).subarray(0, 20_000))
    await expect(look(path)).rejects.toMatchObject({
      code: 'source_damaged',
      message:
        'The source is an MP4 or MOV without its index ("moov"): it was cut off or its recording was never finished.',
    })
  })

  test('an aborted probe ends with the reason of its signal', async () => {
    const reason = new Error('cancelled')
    const options = { cwd: tempDir.path, signal: AbortSignal.abort(reason) }
    await expect(probe(await testFfmpeg(), `file:${clip}`, options)).rejects.toBe(reason)
  })

  test('an address that is neither http nor file is a mistake of ours', async () => {
    await expect(probe(await testFfmpeg(), 'concat:a|b', { cwd: tempDir.path })).rejects.toThrow(TypeError)
  })
})

describe('real files', () => {
  test('a broadcast capture is interlaced, its subtitles and data are others', async (context) => {
    const media = await look(sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts'))
    expect(media.video).toMatchObject({
      codec: 'mpeg2video',
      width: 704,
      height: 576,
      fieldOrder: 'tt',
      frameRate: { num: 25, den: 1 },
    })
    expect(media.audio).toMatchObject([{ codec: 'mp2', channels: 2 }])
    expect(media.other.map((stream) => stream.codec)).toContain('dvb_subtitle')
  })
  test('phone video has its rotation', async (context) => {
    expect((await look(sharedClip(context, 'rotate-buck-bunny.mp4'))).video?.rotation).toBe(90)
    expect((await look(sharedClip(context, 'video_2.mp4'))).video).toMatchObject({
      rotation: 270,
      variableFrameRate: true,
    })
  })
  test('an mp4 without anything usable is damaged or no media', async (context) => {
    const path = sharedClip(context, 'sample_malformed_free_box.mp4')
    await expect(look(path)).rejects.toMatchObject({ code: expect.stringMatching(/^source_(damaged|not_media)$/) })
  })
})

describe('the input allowlist', () => {
  const decode = async (flags: readonly string[], input: string) =>
    runFfmpeg(
      await testFfmpeg(),
      ['-nostdin', '-v', 'error', ...flags, '-i', input, '-map', '0:V?', '-map', '0:a?', '-f', 'null', '-'],
      { cwd: tempDir.path },
    )

  const kinds: [string, string[]][] = [
    ['h264 in mp4', ['h264.mp4', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac']],
    ['mpeg2 in ts', ['mpeg2.ts', '-c:v', 'mpeg2video', '-c:a', 'mp2']],
    ['hevc and ac3 in ts', ['hevc.ts', '-c:v', 'libx265', '-x265-params', 'log-level=error', '-c:a', 'ac3']],
    ['vp9 and opus in webm', ['vp9.webm', '-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-c:a', 'libopus']],
    ['prores and pcm in mov', ['prores.mov', '-c:v', 'prores', '-c:a', 'pcm_s24le']],
    ['ffv1 and flac in mkv', ['ffv1.mkv', '-c:v', 'ffv1', '-c:a', 'flac']],
    ['mpeg4 and mp3 in avi', ['xvid.avi', '-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
  ]
  test.each(kinds)('%s decodes from a file and over loopback http', async (_title, [name = '', ...flags]) => {
    const path = tempDir.file(name)
    await ffmpeg([
      '-f',
      'lavfi',
      '-i',
      'testsrc2=s=160x90:r=25:d=0.4',
      '-f',
      'lavfi',
      '-i',
      'sine=d=0.4:r=48000',
      ...flags,
      path,
    ])
    await using server = await serve()
    for (const [cell, input] of [
      [fileInputFlags(), `file:${path}`],
      [httpInputFlags(), `${server.url}/${name}`],
    ] as const) {
      expect((await probe(await testFfmpeg(), input, { cwd: tempDir.path })).video).toMatchObject({ width: 160 })
      expect(await decode(cell, input)).toMatchObject({ code: 0, stderr: '' })
    }
  })

  test('a codec that is not on the list is refused', async () => {
    const path = tempDir.file('magic.avi')
    await ffmpeg([...lavfi('testsrc2=s=64x64:d=0.2'), '-c:v', 'magicyuv', path])
    const result = await decode(fileInputFlags(), `file:${path}`)
    expect(result.code).not.toBe(0)
    expect(result.stderr).toMatch(/not on whitelist/)
  })

  test('a playlist named .mp4 is not followed, from a file or over http', async () => {
    const list = `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:1,\nfile://${clip}\n#EXT-X-ENDLIST\n`
    await writeFile(tempDir.file('evil.mp4'), list)
    await writeFile(tempDir.file('evil.m3u8'), list)
    await using server = await serve()
    for (const [cell, directory] of [
      [fileInputFlags(), `file:${tempDir.path}`],
      [httpInputFlags(), server.url],
    ] as const) {
      expect((await decode(cell, `${directory}/evil.mp4`)).code).not.toBe(0)
      const named = await decode(cell, `${directory}/evil.m3u8`)
      expect(named.code).not.toBe(0)
      expect(named.stderr).toMatch(/not on whitelist/)
    }
  })

  test('a file input cannot reach the network, an http input cannot reach files', async () => {
    await using server = await serve()
    expect((await decode(fileInputFlags(), `${server.url}/a.mp4`)).stderr).toMatch(/not on whitelist/)
    expect((await decode(httpInputFlags(), `file:${clip}`)).stderr).toMatch(/not on whitelist/)
  })
})
