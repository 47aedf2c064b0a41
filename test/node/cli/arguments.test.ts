// In charge of: parsing command lines with options in any position; what the flags of `submit` send.
// Not in charge of: whether the service accepts it (node/service/cli/commands.test.ts).
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { fileNameInUrl } from '../../../cli/commands/archiveCommand.ts'
import { connection, helpRequest, parse } from '../../../cli/arguments.ts'
import { commandTable, commonOptions, type CommandSpec } from '../../../cli/commandTable.ts'
import { UsageError } from '../../../cli/cliErrors.ts'
import { readSourceArgument, sourceCredential } from '../../../cli/commands/sourceArguments.ts'
import { writeProfile } from '../../../cli/profiles.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { useTempDirectory } from '../../support/useTempDirectory.ts'
import { applyJobFlags, type JobFlags } from '../../../cli/commands/jobBody.ts'

const temp = useTempDirectory()

test('commands of an administrator take the admin key, the others the key of jobs', () => {
  const env = { SPLICEPOINT_URL: 'http://x', SPLICEPOINT_KEY: 'jobs', SPLICEPOINT_ADMIN_KEY: 'admin' }
  const keyOf = (line: string, of: NodeJS.ProcessEnv = env) => connection(parse(line.split(' ')), of).key
  expect(['list', 'usage', 'keys list', 'vault rotate', 'usage --accounts'].map((line) => keyOf(line))).toEqual([
    'jobs',
    'jobs',
    'admin',
    'admin',
    'admin',
  ])
  expect(keyOf('keys list --key other')).toBe('other')
  expect(keyOf('keys list', { ...env, SPLICEPOINT_ADMIN_KEY: undefined })).toBe('jobs')
})

test('the key that login kept goes to its own service only', () => {
  const env = { XDG_CONFIG_HOME: temp.path }
  writeProfile('default', { url: 'https://own.example', key: 'kept' }, env)
  const of = (line: string, more: NodeJS.ProcessEnv = {}) => connection(parse(line.split(' ')), { ...env, ...more })
  expect(of('list')).toEqual({ address: 'https://own.example', key: 'kept' })
  expect(() => of('list --url https://other.example')).toThrow('The API key is missing')
  expect(() => of('list', { SPLICEPOINT_URL: 'https://other.example' })).toThrow('The API key is missing')
  expect(of('list --profile default', { SPLICEPOINT_URL: 'https://other.example', SPLICEPOINT_KEY: 'other' })).toEqual({
    address: 'https://own.example',
    key: 'kept',
  })
  expect(() => of('list --profile other')).toThrow('There is no profile "other"')
})

test('a source in S3 takes the keys of the environment, and says which ones it lacks', async () => {
  const source = await readSourceArgument('s3://films/a.mp4')
  expect(() => sourceCredential(source, {})).toThrow(/s3:\/\/films\/a\.mp4 needs keys: set AWS_ACCESS_KEY_ID/)
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL: 'https://s3.example/' }
  expect(sourceCredential(source, env)).toEqual({
    cloud_provider: 'aws',
    access_key: 'id',
    secret_key: 'secret',
    region: 'us-east-1',
    endpoint: 'https://s3.example',
  })
})

describe('options', () => {
  it.each([
    ['submit film.mp4 --hls -r 720'],
    ['--hls submit film.mp4 -r 720'],
    ['-r 720 --hls submit film.mp4'],
    ['-r 720 submit --hls film.mp4'],
  ])('may stand before the command, behind it, and between: %s', (line) => {
    const { name, values, positionals } = parse(line.split(' '))
    expect({ name, values: { ...values }, words: positionals }).toEqual({
      name: 'submit',
      values: { hls: true, rendition: ['720'] },
      words: ['film.mp4'],
    })
  })

  it('whose value is the name of a command stays an option', () => {
    expect(parse(['--search', 'list', '--url', 'http://x', 'list'])).toMatchObject({
      name: 'list',
      values: { search: 'list', url: 'http://x' },
    })
  })

  it('of another command are refused', () => {
    expect(() => parse(['--hls', 'list'])).toThrow(UsageError)
    expect(() => parse(['--hls'])).toThrow('Name a command')
  })

  it('and commands that are misspelt are answered with those that were probably meant', () => {
    expect(() => parse(['sumbit', 'film.mp4'])).toThrow('"sumbit" is not a command; did you mean submit?')
    expect(() => parse(['submit', 'film.mp4', '--downlod', 'out'])).toThrow('did you mean --download?')
    expect(() => parse(['submit', 'film.mp4', '--hsl'])).toThrow('did you mean --hls?')
    expect(() => parse(['submit', 'film.mp4', '--colour', 'red'])).not.toThrow('did you mean')
  })

  it.each([
    ['submit film.mp4 --title Film', '--title is for the shared page'],
    ['submit film.mp4 --dry-run --share', '--dry-run makes no outputs'],
    ['submit film.mp4 --dry-run --download out', '--dry-run makes no outputs'],
    ['share 5 --list --title Film', 'cannot be combined'],
    ['share 5 --revoke sh_1 --expires 12h', 'cannot be combined'],
    ['share 5 --revoke sh_1 --list', 'cannot be combined'],
  ])('that would do nothing are refused: %s', (line, message) => {
    expect(() => parse(line.split(' '))).toThrow(message)
  })

  it.each(['submit film.mp4 --title Film --share', 'share 5 --title Film --expires 12h', 'share 5 --list'])(
    'that belong together are taken: %s',
    (line) => {
      expect(parse(line.split(' ')).positionals).toHaveLength(1)
    },
  )

  it('of one name have one meaning in every command, so that they can be read before the command is', () => {
    const seen = new Map<string, string>()
    const all: CommandSpec[] = [
      ...Object.values(commandTable),
      { usage: '', positionalCount: [0, 0], description: '', options: commonOptions },
    ]
    for (const { options } of all) {
      for (const [name, { type, short, multiple }] of Object.entries(options)) {
        for (const [key, meaning] of [
          [`--${name}`, JSON.stringify([type, multiple === true])],
          ...(short === undefined ? [] : [[`-${short}`, name]]),
        ] as [string, string][]) {
          expect(seen.get(key) ?? meaning, key).toBe(meaning)
          seen.set(key, meaning)
        }
      }
    }
  })

  it('of no command ask for the version or the help', () => {
    expect(helpRequest(['--version'])).toEqual({ kind: 'version', command: null })
    expect(helpRequest(['-V', '--json'])).toEqual({ kind: 'version', command: null })
    expect(helpRequest(['version'])).toEqual({ kind: 'version', command: null })
    expect(helpRequest(['-h'])).toEqual({ kind: 'help', command: null })
    expect(helpRequest(['help', 'submit'])).toEqual({ kind: 'help', command: 'submit' })
    expect(helpRequest(['submit', '--help'])).toBeNull()
  })
})

describe('submit sends', () => {
  const stereo = { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1', optional: true }

  const copied = { audio_codec: 'copy', source_stream: '1', optional: true }
  test.each<[JobFlags, object]>([
    [{ codec: 'copy' }, { video_codec: 'copy', videoProfiles: [{}], audioProfiles: [copied] }],
    [
      { hls: true, codec: 'copy' },
      {
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: false,
        gop_length: 2,
        video_codec: 'copy',
        videoProfiles: [{}],
        audioProfiles: [copied],
      },
    ],
    [
      { hls: true },
      {
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: false,
        gop_length: 2,
        ladder: 'auto',
        audioProfiles: [stereo],
      },
    ],
    [
      { hls: true, dash: true },
      {
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: true,
        gop_length: 2,
        ladder: 'auto',
        audioProfiles: [stereo],
      },
    ],
    [
      { dash: true, 'no-audio': true },
      {
        output_container: 'mp4',
        segmented_output_hls: false,
        segmented_output_dash: true,
        gop_length: 2,
        ladder: 'auto',
        audioProfiles: [],
      },
    ],
    [{ mp4: true }, { output_container: 'mp4', ladder: 'auto', audioProfiles: [stereo] }],
    [
      { 'audio-only': 'mp3' },
      {
        videoProfiles: [],
        audioProfiles: [
          {
            audio_codec: 'mp3',
            audio_container: 'mp3',
            audio_channels: '2',
            audio_bitrate: '128',
            source_stream: '1',
          },
        ],
      },
    ],
    [
      { 'audio-only': 'flac', 'source-channels': '3,4' },
      {
        videoProfiles: [],
        audioProfiles: [
          {
            audio_codec: 'flac',
            audio_container: 'flac',
            audio_channels: '2',
            source_stream: '1',
            source_channels: '3,4',
          },
        ],
      },
    ],
    [
      {},
      {
        videoProfiles: [{ width: 0, height: 4320, video_bitrate: 46_000, video_bitrate_mode: 'vbr' }],
        allow_upscaling: false,
        audioProfiles: [stereo],
      },
    ],
    [
      { rendition: ['0:3000'], 'source-channels': '1:1,2:1' },
      {
        videoProfiles: [{ width: 0, height: 0, video_bitrate: 3000, video_bitrate_mode: 'vbr' }],
        allow_upscaling: false,
        audioProfiles: [
          { audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_channels: '1:1,2:1', optional: true },
        ],
      },
    ],
    [
      { 'audio-only': 'aac', 'audio-bitrate': '64', hls: true },
      {
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: false,
        videoProfiles: [],
        audioProfiles: [{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '64', source_stream: '1' }],
      },
    ],
    [
      { 'no-video': true, 'no-audio': true, stills: ['every=10,width=320,format=webp', 'at=12.5,at=00:01:00'] },
      {
        audioProfiles: [],
        stills: [{ every_seconds: 10, width: 320, format: 'webp' }, { at_seconds: [12.5, '00:01:00'] }],
      },
    ],
    [
      { preset: 'web', stills: ['count=12'], preview: 'gif', waveform: 'png' },
      { preset: 'web', stills: [{ count: 12 }], animated_preview: { format: 'gif' }, waveform: { format: 'png' } },
    ],
    [
      { hls: true, 'no-video': true },
      {
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: false,
        audioProfiles: [stereo],
      },
    ],
    [
      { rendition: ['720p:2500'], metadata: ['show=one', 'note=a=b'] },
      {
        videoProfiles: [{ width: 0, height: 720, video_bitrate: 2500, video_bitrate_mode: 'vbr' }],
        allow_upscaling: false,
        audioProfiles: [stereo],
        metadata: { show: 'one', note: 'a=b' },
      },
    ],
    [
      { rendition: ['1280x720:2500'], 'allow-upscaling': true },
      {
        videoProfiles: [{ width: 1280, height: 720, video_bitrate: 2500, video_bitrate_mode: 'vbr' }],
        allow_upscaling: true,
        audioProfiles: [stereo],
      },
    ],
    [{ preset: 'web' }, { preset: 'web' }],
    [
      { preset: 'web', chunks: '60' },
      { preset: 'web', max_chunk_seconds: '60' },
    ],
    [
      { preset: 'web', deadline: '600' },
      { preset: 'web', deadline_seconds: '600' },
    ],
    [
      { preset: 'web', set: ['gop_length=2', 'closed_captions=true'] },
      { preset: 'web', gop_length: 2, closed_captions: true },
    ],
  ])('%j', (flags, body) => {
    expect(applyJobFlags(null, flags)).toEqual(body)
  })

  test('a document’s own members, where no flag overrides them', () => {
    const document = { ladder: 'auto', audioProfiles: [], metadata: { show: 'one' } }
    expect(applyJobFlags(document, {})).toEqual(document)
    expect(applyJobFlags(document, { rendition: ['360:800'], metadata: ['part=2'] })).toEqual({
      audioProfiles: [],
      metadata: { show: 'one', part: '2' },
      videoProfiles: [{ width: 0, height: 360, video_bitrate: 800, video_bitrate_mode: 'vbr' }],
    })
    expect(document).toEqual({ ladder: 'auto', audioProfiles: [], metadata: { show: 'one' } })
  })

  test.each<[JobFlags, RegExp]>([
    [{ mp4: true, hls: true }, /--mp4 makes files/],
    [{ hls: true, container: 'ts' }, /Leave out --container/],
    [{ hls: true, mode: 'cbr' }, /--rendition/],
    [{ 'no-audio': true, 'audio-bitrate': '96' }, /cannot be combined/],
    [{ 'audio-only': 'mp3', rendition: ['720'] }, /makes no video/],
    [{ 'no-video': true, rendition: ['720'] }, /cannot be combined/],
    [{ 'no-video': true, preset: 'web' }, /the renditions of a preset stay/],
    [{ stills: ['often=1'] }, /often=1 is none of at, every, count/],
    [{ stills: ['constructor=1'] }, /is none of/],
    [{ stills: ['count=few'] }, /count=few has no number/],
    [{ stills: ['count=1,count=2'] }, /count stands there twice/],
    [{ stills: [''] }, /is none of/],
    [{ rendition: ['720x'] }, /write 720/],
    [{ metadata: ['=x'] }, /NAME=VALUE/],
    [{ set: ['x'] }, /FIELD=VALUE/],
  ])('nothing for %j', (flags, message) => {
    expect(() => applyJobFlags(null, flags)).toThrow(message)
  })
})

test.each([
  ['http://h.test/a/1.x/alice/j-1/My_film.tar', 'My_film.tar'],
  ['http://h.test/a/1.x/alice/j-1/.bashrc', null],
  ['http://h.test/a/1.x/alice/j-1/.hidden.tar', null],
  ['http://h.test/a/1.x/alice/j-1/-rf.tar', null],
  ['http://h.test/a/1.x/alice/j-1/run.sh', null],
  ['http://h.test/a/1.x/alice/j-1/..%2f..%2fx.tar', null],
  ['http://h.test/a/1.x/alice/j-1/%00.tar', null],
  ['http://h.test/', null],
])('an archive is called as its address says, where that is the name of a tar: %s', (address, name) => {
  expect(fileNameInUrl(new URL(address))).toBe(name)
})

describe('a source on the command line', () => {
  const film = fileURLToPath(import.meta.url)
  const part = (start_seconds?: string, end_seconds?: string) => ({
    ...(start_seconds === undefined ? {} : { start_seconds }),
    ...(end_seconds === undefined ? {} : { end_seconds }),
  })

  it.each([
    ['', part()],
    ['#t=10,150.5', part('10', '150.5')],
    ['#t=10', part('10')],
    ['#t=10,', part('10')],
    ['#t=,00:02:30', part(undefined, '00:02:30')],
    ['#t=00:00:10:12,00:00:20;02', part('00:00:10:12', '00:00:20;02')],
  ])('may end with the part that is used: %s', async (end, cut) => {
    const file = { source: film, provider: 'file-upload', fileBytes: expect.any(Number) }
    expect(await readSourceArgument(film + end)).toEqual({ ...file, cut })
    const address = 'https://media.test/film.mp4'
    expect(await readSourceArgument(address + end)).toEqual({ source: address, provider: 'http', fileBytes: null, cut })
  })

  it.each(['#t=', '#t=,', '#t=ten,20', '#t=-1'])('with an unknown form of a part is refused: %s', async (end) => {
    await expect(readSourceArgument(film + end)).rejects.toThrow('write the part as #t=START,END')
  })

  it('is a file if there is one of that name', async () => {
    await using directory = await tempDirectory()
    const path = directory.file('film.mp4#t=1,2')
    await writeFile(path, 'film')
    expect(await readSourceArgument(path)).toMatchObject({ source: path, fileBytes: 4, cut: {} })
    await expect(readSourceArgument(directory.file('other.mp4#t=1,2'))).rejects.toThrow(
      `There is no file ${directory.file('other.mp4')}.`,
    )
  })
})
