// A file that is refused is named, with what to do about it, also where ffmpeg would open it.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { TaskError } from '#contract/taskError.ts'
import { explainRefusal } from '../../../../transcoder/analysis/fileKind.ts'
import { probe, readProbe } from '../../../../transcoder/analysis/probe.ts'
import { explainExit } from '../../../../transcoder/ffmpeg/exit.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { ffmpeg, lavfi, testFfmpeg } from '../../../support/media/media.ts'
import { jobSpec, mediaInfo } from '../../../support/transcoder/jobSpecs.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const tempDir = useTempDirectory()
const refusal = new TaskError('source_not_media', 'The source is not a recognised media file.')
const explain = (bytes: Buffer, error: unknown = refusal) =>
  explainRefusal(
    { open: async () => ({ size: bytes.length, ranges: true, head: bytes }), readRange: async () => bytes },
    error,
    new AbortController().signal,
  )
const latin = (text: string) => Buffer.from(text, 'latin1')

test.each([
  ['a HEIC or HEIF image', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
  ['a HEIC or HEIF image', '\0\0\0\x18ftypmif1\0\0\0\0mif1heic'],
  ['an AVIF image', '\0\0\0\x18ftypavif\0\0\0\0avifmif1'],
  ['a PNG image', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['a JPEG image', '\xff\xd8\xff\xe0\0\x10JFIF'],
  ['a WebP image', 'RIFF\x10\0\0\0WEBPVP8 '],
  ['an animated WebP', 'RIFF\x10\0\0\0WEBPVP8X\x0a\0\0\0\x12\0\0\0'],
  ['WavPack audio', 'wvpk\x20\0\0\0'],
  ['a PVA recording', 'AV\x01\0\x55\x10\0\x10'],
  ['a WTV recording of Windows Media Center', '\xb7\xd8\0\x20\x37\x49\xda\x11\xa6\x4e\0\x07'],
  ['a PDF document', '%PDF-1.7\n%\xe2\xe3'],
  ['a ZIP archive, or a document of an office program', 'PK\x03\x04\x14\0'],
  ['a web page', '\n<!DOCTYPE html>\n<html lang="en">'],
  ['JSON text', '{"error":"not found"}'],
  ['a caption file (WebVTT)', 'WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n'],
  ['text', 'Dear reader, this is no film.\n'],
])('%s', async (name, bytes) => {
  const found = (await explain(latin(bytes))) as TaskError
  expect(found.code).toBe('source_not_media')
  expect(found.message).toMatch(
    new RegExp(`^The source is ${name.replaceAll(/[()]/g, '\\$&')}, which is not accepted\\. [A-Z].*\\.?$`),
  )
})

test('what is not known, and errors that say something else, stay as they are', async () => {
  expect(await explain(latin('\x01\x02\x03\x04'))).toBe(refusal)
  const other = new TaskError('source_unreachable', 'The source could not be read.')
  expect(await explain(latin('%PDF-1.7'), other)).toBe(other)
})

test('an MP4 with an index alone', async () => {
  const path = tempDir.file('whole.mp4')
  await ffmpeg([...lavfi('color=s=64x64:d=0.2'), '-c:v', 'libx264', '-movflags', 'faststart', path])
  const bytes = await readFile(path)
  const end = bytes.indexOf('mdat') - 4
  expect(await explain(bytes.subarray(0, end))).toMatchObject({
    code: 'source_damaged',
    message: expect.stringContaining('contains no media data'),
  })
  expect(await explain(bytes)).toBe(refusal)
})

test('an image that ffmpeg opens as video, and a GIF of one image', async () => {
  const format = { format_name: 'mov,mp4,m4a,3gp,3g2,mj2', tags: { major_brand: 'avif' } }
  expect(() => readProbe({ format, streams: [] }, null)).toThrow(/^The source is an AVIF image/)
  const film = { ...format, tags: { major_brand: 'qt  ' } }
  expect(() => readProbe({ format: film, streams: [] }, null)).toThrow('The source has neither video nor audio.')
  const programs = await testFfmpeg()
  const gif = async (name: string, frames: number) => {
    await ffmpeg([...lavfi('testsrc2=s=64x48:r=10'), '-frames:v', `${frames}`, tempDir.file(name)])
    return probe(programs, `file:${tempDir.file(name)}`, { cwd: tempDir.path })
  }
  await expect(gif('one.gif', 1)).rejects.toMatchObject({
    message: expect.stringContaining('a GIF with a single image'),
  })
  expect((await gif('two.gif', 2)).video).toMatchObject({ codec: 'gif', width: 64 })
})

test('the codec is named', async () => {
  const stderr = "[speex @ 0x5] Codec (speex) not on whitelist 'h264,hevc'"
  expect(explainExit({ code: 1, signal: null, stderr })).toMatchObject({
    code: 'source_not_media',
    message: expect.stringContaining('a codec that is not accepted (speex): convert it first'),
  })
  const path = tempDir.file('magic.avi')
  await ffmpeg([...lavfi('testsrc2=s=64x64:d=0.2'), '-c:v', 'magicyuv', path])
  await expect(probe(await testFfmpeg(), `file:${path}`, { cwd: tempDir.path })).rejects.toMatchObject({
    message: expect.stringContaining('(magicyuv)'),
  })
})

const dolbyVision = (profile: number, base: number) =>
  readProbe(
    {
      format: { format_name: 'mov,mp4' },
      streams: [
        {
          index: 0,
          codec_type: 'video',
          codec_name: 'hevc',
          width: 320,
          height: 180,
          pix_fmt: 'yuv420p10le',
          r_frame_rate: '25/1',
          avg_frame_rate: '25/1',
          side_data_list: [{ dv_profile: profile, dv_bl_signal_compatibility_id: base }],
        },
      ],
    },
    null,
  )

test.each([
  [5, 0],
  [10, 0],
  [20, 0],
])('Dolby Vision of profile %d.%d, whose colours only its metadata tell, is refused', (profile, base) => {
  const { video } = dolbyVision(profile, base)
  const media = mediaInfo(video!)
  expect(() => planJob(jobSpec(), media)).toThrow(
    expect.objectContaining({
      code: 'source_unsupported',
      message: expect.stringMatching(new RegExp(`profile ${profile}.*HDR10, HLG, SDR, or Dolby Vision 8\\.1 or 8\\.4`)),
    }),
  )
})

test.each([
  [4, 2],
  [7, 6],
  [8, 1],
  [8, 4],
  [9, 2],
  [10, 1],
])('Dolby Vision of profile %d.%d is read as its base', (profile, base) => {
  expect(dolbyVision(profile, base).video).not.toHaveProperty('dolbyVisionAlone')
})
