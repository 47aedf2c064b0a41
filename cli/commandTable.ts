// In charge of: the table of commands with their arguments and options. Parsing, help and completion use it.
// Not in charge of: running them (main.ts).
import { WIRE_VIDEO_CODECS } from '#contract/codecs.ts'
import { CONTAINERS } from '#contract/containers.ts'

export interface CommandOption {
  type: 'string' | 'boolean'
  short?: string
  multiple?: true
  /** Placeholder of the value in the help. */
  value?: string
  about: string
  /** For completion only; the service decides what is accepted. */
  values?: readonly string[]
}

export interface CommandSpec {
  /** Positional arguments as shown in the help. */
  takes: string
  /** Minimum and maximum number of arguments. */
  count: readonly [number, number]
  about: string
  options: Readonly<Record<string, CommandOption>>
  /** For completion of the first argument. */
  words?: readonly string[]
}

/** Options of every command. */
export const commonOptions: Readonly<Record<string, CommandOption>> = {
  url: { type: 'string', value: 'URL', about: 'address of the service; else SPLICEPOINT_URL' },
  key: {
    type: 'string',
    value: 'KEY',
    about: 'API key; else SPLICEPOINT_KEY, which other users of the machine cannot see',
  },
  json: { type: 'boolean', about: 'print what the service answered, as one JSON document' },
  help: { type: 'boolean', short: 'h', about: 'show what the command takes' },
  version: { type: 'boolean', short: 'V', about: 'show the version of the command' },
}

const watch: CommandOption = { type: 'boolean', short: 'w', about: 'wait for the end of the job, with progress' }
const downloadTo: CommandOption = {
  type: 'string',
  value: 'DIR',
  about: 'wait, then download all outputs below this directory',
}
const dir: CommandOption = { type: 'string', value: 'DIR', about: 'where the files go; default: the current directory' }
const title: CommandOption = {
  type: 'string',
  value: 'TEXT',
  about: 'shown on the shared page; default: the source’s name',
}
const limit: CommandOption = { type: 'string', value: 'N', about: '1 to 100; default 20' }
const cursor: CommandOption = { type: 'string', value: 'TEXT', about: 'next_cursor of the page before' }

export const commandTable = {
  submit: {
    takes: '[FILE|ADDRESS]',
    count: [0, 1],
    about: 'create a job; a file of this machine is uploaded first',
    options: {
      hls: { type: 'boolean', about: 'HLS, in the sizes that fit the source' },
      dash: { type: 'boolean', about: 'DASH; with --hls both, from one set of segments' },
      mp4: { type: 'boolean', about: 'MP4 files, in the sizes that fit the source' },
      preset: { type: 'string', short: 'p', value: 'NAME', about: 'start from a preset: splicepoint presets list' },
      file: { type: 'string', short: 'f', value: 'JSON', about: 'the job as a JSON file, or - for standard input' },
      rendition: {
        type: 'string',
        short: 'r',
        multiple: true,
        value: 'SIZE[:KBPS]',
        about: 'a size of your own: 720, 720:2500 or 1280x720:2500; repeat it for more',
      },
      'allow-upscaling': { type: 'boolean', about: 'make sizes that are larger than the source too' },
      container: {
        type: 'string',
        value: 'NAME',
        about: 'output_container',
        values: CONTAINERS,
      },
      codec: { type: 'string', value: 'NAME', about: 'video_codec', values: WIRE_VIDEO_CODECS },
      mode: { type: 'string', value: 'NAME', about: 'video_bitrate_mode', values: ['vbr', 'cbr', 'qvbr'] },
      'audio-bitrate': { type: 'string', value: 'KBPS', about: 'of stereo aac; default 128' },
      'no-audio': { type: 'boolean', about: 'outputs without audio' },
      metadata: {
        type: 'string',
        short: 'm',
        multiple: true,
        value: 'NAME=VALUE',
        about: 'your own note on the job, shown and searchable; repeat it for more',
      },
      set: {
        type: 'string',
        short: 's',
        multiple: true,
        value: 'FIELD=VALUE',
        about: 'any other field of the job, for example gop_length=2',
      },
      'idempotency-key': {
        type: 'string',
        value: 'TEXT',
        about: 'the same text makes no second job; default: a random one',
      },
      'upload-again': { type: 'boolean', about: 'send the file also if it is still stored from an earlier upload' },
      'dry-run': { type: 'boolean', about: 'plan and estimate only, nothing is encoded; waits for the result' },
      watch,
      download: downloadTo,
      share: { type: 'boolean', about: 'wait, then create a page that plays the outputs without a key' },
      title,
    },
  },
  status: { takes: 'ID', count: [1, 1], about: 'show a job', options: { watch } },
  list: {
    takes: '',
    count: [0, 0],
    about: 'list jobs, newest first',
    options: {
      state: {
        type: 'string',
        value: 'NAMES',
        about: 'comma-separated',
        values: ['ready', 'queued', 'running', 'committing', 'completed', 'failed', 'cancelled'],
      },
      search: {
        type: 'string',
        value: 'TEXT',
        about: 'number, job_id, part of the source’s name or address, or a value of its metadata',
      },
      metadata: {
        type: 'string',
        short: 'm',
        multiple: true,
        value: 'NAME=VALUE',
        about: 'only jobs with this metadata; repeat it for more',
      },
      limit,
      cursor,
    },
  },
  cancel: { takes: 'ID', count: [1, 1], about: 'cancel a job', options: {} },
  retry: {
    takes: 'ID',
    count: [1, 1],
    about: 'run a failed or cancelled job again, as a new one',
    options: { watch },
  },
  delete: {
    takes: 'ID',
    count: [1, 1],
    about: 'delete a job that has ended, with its outputs in the service’s own store',
    options: {},
  },
  download: {
    takes: 'ID',
    count: [1, 1],
    about: 'download all files of a job, segments included, and check their SHA-256',
    options: { to: dir },
  },
  archive: {
    takes: 'ID',
    count: [1, 1],
    about: 'download all files of a job as one tar',
    options: { to: { type: 'string', value: 'FILE', about: 'its name; default: the archive’s own' } },
  },
  share: {
    takes: 'ID',
    count: [1, 1],
    about: 'create a page that plays the outputs without a key',
    options: {
      title,
      expires: { type: 'string', value: 'TIME', about: '45m, 12h or 30d; default 30d' },
      list: { type: 'boolean', about: 'list the pages of the job instead' },
      revoke: { type: 'string', value: 'SHARE', about: 'revoke this one instead' },
    },
  },
  log: { takes: 'ID', count: [1, 1], about: 'show the ffmpeg commands and messages of a job', options: {} },
  presets: {
    takes: 'list|show NAME|save NAME|delete NAME',
    count: [1, 2],
    about: 'list presets and keep your own',
    options: {
      file: { type: 'string', short: 'f', value: 'JSON', about: 'save: a job without input and credentials, or -' },
      description: { type: 'string', value: 'TEXT', about: 'save: one sentence' },
    },
    words: ['list', 'show', 'save', 'delete'],
  },
  uploads: {
    takes: 'list|delete NUMBER|token',
    count: [1, 2],
    about: 'list or delete uploads, or issue an upload token for a page of yours',
    options: {
      state: { type: 'string', value: 'NAME', about: 'list: only these', values: ['receiving', 'ready'] },
      limit,
      cursor,
      'max-bytes': { type: 'string', value: 'SIZE', about: 'token: largest file, 500MB or 2GB' },
      'max-files': { type: 'string', value: 'N', about: 'token: how many; default 1' },
      expires: { type: 'string', value: 'TIME', about: 'token: 90s to 24h; default 1h' },
      name: { type: 'string', value: 'TEXT', about: 'token: for your own records' },
    },
    words: ['list', 'delete', 'token'],
  },
  limits: { takes: '', count: [0, 0], about: 'show the limits of the service', options: {} },
  keys: {
    takes: 'list|issue|rotate ID|revoke ID',
    count: [1, 2],
    about: 'manage API keys; needs an admin key',
    options: {
      account: { type: 'string', value: 'NAME', about: 'issue: whose key it is' },
      label: { type: 'string', value: 'TEXT', about: 'issue: what it is for' },
      scope: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        about: 'issue: jobs (default) or admin',
        values: ['jobs', 'admin'],
      },
    },
    words: ['list', 'issue', 'rotate', 'revoke'],
  },
  vault: {
    takes: 'rotate',
    count: [1, 1],
    about: 'seal stored credentials again with the newest key of VAULT_KEYS; needs an admin key',
    options: {},
    words: ['rotate'],
  },
  doctor: {
    takes: '[URL]',
    count: [0, 1],
    about: 'check a deployment and say how to repair what is wrong',
    options: {
      'admin-key': {
        type: 'string',
        value: 'KEY',
        about:
          'lets the service look at itself; else SPLICEPOINT_ADMIN_KEY, which other users of the machine cannot see',
      },
      config: {
        type: 'string',
        value: 'FILE',
        about: 'wrangler.toml to look at; default: the one here, without a URL',
      },
      'no-jobs': { type: 'boolean', about: 'run none' },
      input: { type: 'string', value: 'ADDRESS', about: 'an http address of media that a job reads too' },
      store: {
        type: 'string',
        multiple: true,
        value: 's3://BUCKET/PREFIX',
        about: 'a store that a job writes to as well, with the keys of AWS_ACCESS_KEY_ID, …; repeat it for more',
      },
      timeout: { type: 'string', value: 'SECONDS', about: 'for one job; default 300' },
      idle: { type: 'boolean', about: 'wait 90 seconds more, and see whether idle containers end' },
    },
  },
  completion: {
    takes: 'bash|zsh|fish',
    count: [1, 1],
    about: 'print a completion script for a shell',
    options: {},
    words: ['bash', 'zsh', 'fish'],
  },
} as const satisfies Record<string, CommandSpec>

export type CommandName = keyof typeof commandTable

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commandTable, name)
}
