// In charge of: the table of commands with their arguments and options. Parsing, help and completion use it.
// Not in charge of: running them (main.ts).
import { AUDIO_CODECS, WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import { CONTAINERS } from '#contract/containers.ts'
import { INPUTS } from '#contract/limits.ts'

export interface CommandOption {
  type: 'string' | 'boolean'
  short?: string
  multiple?: true
  /** Placeholder of the value in the help. */
  value?: string
  description: string
  /** For completion only; the service decides what is accepted. */
  values?: readonly string[]
}

export interface CommandSpec {
  /** Positional arguments as shown in the help. */
  usage: string
  /** Minimum and maximum number of arguments. */
  positionalCount: readonly [number, number]
  description: string
  options: Readonly<Record<string, CommandOption>>
  /** For completion of the first argument. */
  subcommands?: readonly string[]
}

/** Options of every command. */
export const commonOptions: Readonly<Record<string, CommandOption>> = {
  url: { type: 'string', value: 'URL', description: 'address of the service; default: SPLICEPOINT_URL' },
  key: {
    type: 'string',
    value: 'KEY',
    description: 'API key; default: SPLICEPOINT_KEY, which other users of the machine cannot see',
  },
  profile: {
    type: 'string',
    value: 'NAME',
    description: 'use what login kept under this name; default: SPLICEPOINT_PROFILE',
  },
  json: { type: 'boolean', description: 'print the answer of the service as one JSON document' },
  help: { type: 'boolean', short: 'h', description: 'show help for the command' },
  version: { type: 'boolean', short: 'V', description: 'show the version of the command' },
}

const watch: CommandOption = { type: 'boolean', short: 'w', description: 'wait for the end of the job, with progress' }
const downloadTo: CommandOption = {
  type: 'string',
  value: 'DIR',
  description: 'wait, then download all outputs below this directory',
}
const dir: CommandOption = {
  type: 'string',
  value: 'DIR',
  description: 'directory for the files; default: the current one',
}
const title: CommandOption = {
  type: 'string',
  value: 'TEXT',
  description: 'shown on the shared page; default: the source’s name',
}
const limit: CommandOption = { type: 'string', value: 'N', description: '1 to 100; default 20' }
const cursor: CommandOption = { type: 'string', value: 'TEXT', description: 'next_cursor of the previous page' }

export const commandTable = {
  submit: {
    usage: '[FILE|ADDRESS][#t=START,END] …',
    positionalCount: [0, INPUTS.maximum],
    description: 'create a job; files of this machine are uploaded first',
    options: {
      join: { type: 'boolean', description: 'play several sources one after the other, in this order' },
      hls: { type: 'boolean', description: 'HLS, in the sizes that fit the source' },
      dash: { type: 'boolean', description: 'DASH; together with --hls, both use the same segments' },
      mp4: { type: 'boolean', description: 'MP4 files, in the sizes that fit the source' },
      preset: {
        type: 'string',
        short: 'p',
        value: 'NAME',
        description: 'start from a preset: splicepoint presets list',
      },
      file: {
        type: 'string',
        short: 'f',
        value: 'JSON',
        description: 'the job as a JSON file, or - for standard input',
      },
      rendition: {
        type: 'string',
        short: 'r',
        multiple: true,
        value: 'SIZE[:KBPS]',
        description: 'a rendition: 720, 720:2500 or 1280x720:2500; repeat it for more',
      },
      'allow-upscaling': { type: 'boolean', description: 'also make renditions that are larger than the source' },
      container: {
        type: 'string',
        value: 'NAME',
        description: 'output_container',
        values: CONTAINERS,
      },
      codec: {
        type: 'string',
        value: 'NAME',
        description: 'video_codec; copy = as in the source',
        values: [...WIRE_VIDEO_CODECS, 'copy'],
      },
      mode: { type: 'string', value: 'NAME', description: 'video_bitrate_mode', values: ['vbr', 'cbr', 'qvbr'] },
      'source-channels': {
        type: 'string',
        value: 'LIST',
        description: 'channels of the source that make the audio: 3,4 or 1:1,2:1 (stream:channel)',
      },
      'audio-bitrate': { type: 'string', value: 'KBPS', description: 'audio bitrate of stereo AAC; default 128' },
      'no-audio': { type: 'boolean', description: 'outputs without audio' },
      'audio-only': {
        type: 'string',
        value: 'CODEC',
        description: 'no video; the audio in this codec',
        values: AUDIO_CODECS,
      },
      'no-video': { type: 'boolean', description: 'no video outputs; with --no-audio, only --stills and the like' },
      stills: {
        type: 'string',
        multiple: true,
        value: 'WHEN[,NAME=VALUE]',
        description: 'images: every=10 (seconds), count=12 or at=12.5, also width, height, format; can be repeated',
      },
      preview: {
        type: 'string',
        value: 'FORMAT',
        description: 'a short animated preview',
        values: ['mp4', 'gif', 'webp'],
      },
      waveform: {
        type: 'string',
        value: 'FORMAT',
        description: 'the peaks of the audio, as data or as an image',
        values: ['json', 'dat', 'png'],
      },
      captions: {
        type: 'string',
        multiple: true,
        value: 'LANGUAGE=SOURCE',
        description: 'a caption file or its address, like de=film.srt; can be repeated',
      },
      'burn-in': {
        type: 'string',
        value: 'WHICH',
        description: 'draw the caption file of this language, or the source’s subtitle stream with this number',
      },
      chunks: {
        type: 'string',
        value: 'SECONDS',
        description: 'divide the video into chunks of at most this length, which several transcoders encode at once',
      },
      deadline: {
        type: 'string',
        value: 'SECONDS',
        description:
          'wish that the job ends so many seconds after its creation: it is divided if that takes several transcoders',
      },
      metadata: {
        type: 'string',
        short: 'm',
        multiple: true,
        value: 'NAME=VALUE',
        description: 'metadata of the job, shown and searchable; can be repeated',
      },
      set: {
        type: 'string',
        short: 's',
        multiple: true,
        value: 'FIELD=VALUE',
        description: 'any other field of the job, for example gop_length=2',
      },
      'idempotency-key': {
        type: 'string',
        value: 'TEXT',
        description: 'a second request with the same text creates no second job; default: a random text',
      },
      'upload-again': {
        type: 'boolean',
        description: 'upload the file even if it is still stored from an earlier upload',
      },
      'dry-run': { type: 'boolean', description: 'plan and estimate without encoding; waits for the result' },
      watch,
      download: downloadTo,
      share: { type: 'boolean', description: 'wait, then create a page that plays the outputs without a key' },
      title,
    },
  },
  login: {
    usage: '',
    positionalCount: [0, 0],
    description: 'keep the address of a service and a key for later commands; the key is read from standard input',
    options: {},
  },
  logout: { usage: '', positionalCount: [0, 0], description: 'forget what login kept', options: {} },
  events: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'show what happened to a job',
    options: { follow: { type: 'boolean', description: 'until the job has ended' } },
  },
  open: { usage: 'ID', positionalCount: [1, 1], description: 'open a job in the dashboard', options: {} },
  webhooks: {
    usage: 'listen ADDRESS',
    positionalCount: [2, 2],
    description: 'send the webhooks of jobs that end from now on to an address of this machine',
    options: {},
    subcommands: ['listen'],
  },
  status: { usage: 'ID', positionalCount: [1, 1], description: 'show a job', options: { watch } },
  list: {
    usage: '',
    positionalCount: [0, 0],
    description: 'list jobs, newest first',
    options: {
      state: {
        type: 'string',
        value: 'NAMES',
        description: 'comma-separated',
        values: ['ready', 'queued', 'running', 'committing', 'completed', 'failed', 'cancelled'],
      },
      search: {
        type: 'string',
        value: 'TEXT',
        description: 'number, job_id, part of the source’s name or address, or a value of its metadata',
      },
      metadata: {
        type: 'string',
        short: 'm',
        multiple: true,
        value: 'NAME=VALUE',
        description: 'only jobs with this metadata; can be repeated',
      },
      limit,
      cursor,
    },
  },
  cancel: { usage: 'ID', positionalCount: [1, 1], description: 'cancel a job', options: {} },
  retry: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'run a failed or cancelled job again, as a new one',
    options: { watch },
  },
  delete: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'delete a job that has ended, with its outputs in the service’s own store',
    options: {},
  },
  download: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'download all files of a job, segments included, and check their SHA-256',
    options: { to: dir },
  },
  archive: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'download all files of a job as one tar',
    options: { to: { type: 'string', value: 'FILE', description: 'file name; default: the name of the archive' } },
  },
  share: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'create a page that plays the outputs without a key',
    options: {
      title,
      expires: { type: 'string', value: 'TIME', description: '45m, 12h or 30d; default 30d' },
      password: { type: 'string', value: 'TEXT', description: 'viewers must enter it; 8 or more characters' },
      list: { type: 'boolean', description: 'list the shared pages of the job' },
      revoke: { type: 'string', value: 'SHARE', description: 'revoke this shared page' },
    },
  },
  log: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'show the ffmpeg commands and messages of a job',
    options: {
      part: { type: 'string', value: 'N', description: 'of a part of a divided job, counted from 0 as in its map' },
    },
  },
  presets: {
    usage: 'list|show NAME|save NAME|delete NAME',
    positionalCount: [1, 2],
    description: 'list presets and keep your own',
    options: {
      file: {
        type: 'string',
        short: 'f',
        value: 'JSON',
        description: 'save: a job without input and credentials, or -',
      },
      description: { type: 'string', value: 'TEXT', description: 'save: one sentence' },
    },
    subcommands: ['list', 'show', 'save', 'delete'],
  },
  uploads: {
    usage: 'list|delete NUMBER|token',
    positionalCount: [1, 2],
    description: 'list or delete uploads, or issue an upload token for your own web page',
    options: {
      state: { type: 'string', value: 'NAME', description: 'list: only these', values: ['receiving', 'ready'] },
      limit,
      cursor,
      'max-bytes': { type: 'string', value: 'SIZE', description: 'token: largest file, 500MB or 2GB' },
      'max-files': { type: 'string', value: 'N', description: 'token: number of files; default 1' },
      expires: { type: 'string', value: 'TIME', description: 'token: 90s to 24h; default 1h' },
      name: { type: 'string', value: 'TEXT', description: 'token: a label, for your own records' },
    },
    subcommands: ['list', 'delete', 'token'],
  },
  limits: { usage: '', positionalCount: [0, 0], description: 'show the limits of the service', options: {} },
  usage: {
    usage: '',
    positionalCount: [0, 0],
    description: 'show what the account used in a month, and what it costs',
    options: {
      month: { type: 'string', value: 'YYYY-MM', description: 'a month in UTC; default: the current one' },
      accounts: { type: 'boolean', description: 'of all accounts; needs an admin key' },
      csv: { type: 'boolean', description: 'print CSV' },
    },
  },
  'spend-cap': {
    usage: 'ACCOUNT AMOUNT|none',
    positionalCount: [2, 2],
    description: 'refuse new jobs of an account that has spent this much in a month; needs an admin key',
    options: {
      webhook: { type: 'string', value: 'URL', description: 'notified at 80 % and 100 %; default: none' },
    },
  },
  keys: {
    usage: 'list|issue|rotate ID|revoke ID',
    positionalCount: [1, 2],
    description: 'manage API keys; needs an admin key',
    options: {
      account: { type: 'string', value: 'NAME', description: 'issue: account of the key' },
      label: { type: 'string', value: 'TEXT', description: 'issue: label of the key' },
      scope: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        description: 'issue: jobs (default) or admin',
        values: ['jobs', 'admin'],
      },
      expires: { type: 'string', value: 'TIME', description: 'issue: 12h or 90d; default: never' },
    },
    subcommands: ['list', 'issue', 'rotate', 'revoke'],
  },
  vault: {
    usage: 'rotate',
    positionalCount: [1, 1],
    description: 'encrypt stored credentials again with the newest key of VAULT_KEYS; needs an admin key',
    options: {},
    subcommands: ['rotate'],
  },
  doctor: {
    usage: '[URL]',
    positionalCount: [0, 1],
    description: 'check a running service and say how to fix problems',
    options: {
      'admin-key': {
        type: 'string',
        value: 'KEY',
        description:
          'admin key for the diagnosis of the service; default: SPLICEPOINT_ADMIN_KEY, which other users of the machine cannot see',
      },
      'no-jobs': { type: 'boolean', description: 'run no test job' },
      input: {
        type: 'string',
        value: 'ADDRESS',
        description: 'http address of a media file that one more test job reads',
      },
      store: {
        type: 'string',
        multiple: true,
        value: 's3://BUCKET/PREFIX',
        description: 'a store that one more test job writes to, with the keys in AWS_ACCESS_KEY_ID, …; can be repeated',
      },
      timeout: { type: 'string', value: 'SECONDS', description: 'time limit of one test job; default 300' },
    },
  },
  completion: {
    usage: 'bash|zsh|fish',
    positionalCount: [1, 1],
    description: 'print a completion script for a shell',
    options: {},
    subcommands: ['bash', 'zsh', 'fish'],
  },
} as const satisfies Record<string, CommandSpec>

export type CommandName = keyof typeof commandTable

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name)
}
