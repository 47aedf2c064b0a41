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
  url: { type: 'string', value: 'URL', description: 'address of the service; else SPLICEPOINT_URL' },
  key: {
    type: 'string',
    value: 'KEY',
    description: 'API key; else SPLICEPOINT_KEY, which other users of the machine cannot see',
  },
  json: { type: 'boolean', description: 'print what the service answered, as one JSON document' },
  help: { type: 'boolean', short: 'h', description: 'show what the command takes' },
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
  description: 'where the files go; default: the current directory',
}
const title: CommandOption = {
  type: 'string',
  value: 'TEXT',
  description: 'shown on the shared page; default: the source’s name',
}
const limit: CommandOption = { type: 'string', value: 'N', description: '1 to 100; default 20' }
const cursor: CommandOption = { type: 'string', value: 'TEXT', description: 'next_cursor of the page before' }

export const commandTable = {
  submit: {
    usage: '[FILE|ADDRESS]',
    positionalCount: [0, 1],
    description: 'create a job; a file of this machine is uploaded first',
    options: {
      hls: { type: 'boolean', description: 'HLS, in the sizes that fit the source' },
      dash: { type: 'boolean', description: 'DASH; with --hls both, from one set of segments' },
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
        description: 'a size of your own: 720, 720:2500 or 1280x720:2500; repeat it for more',
      },
      'allow-upscaling': { type: 'boolean', description: 'make sizes that are larger than the source too' },
      container: {
        type: 'string',
        value: 'NAME',
        description: 'output_container',
        values: CONTAINERS,
      },
      codec: { type: 'string', value: 'NAME', description: 'video_codec', values: WIRE_VIDEO_CODECS },
      mode: { type: 'string', value: 'NAME', description: 'video_bitrate_mode', values: ['vbr', 'cbr', 'qvbr'] },
      'audio-bitrate': { type: 'string', value: 'KBPS', description: 'of stereo aac; default 128' },
      'no-audio': { type: 'boolean', description: 'outputs without audio' },
      metadata: {
        type: 'string',
        short: 'm',
        multiple: true,
        value: 'NAME=VALUE',
        description: 'your own note on the job, shown and searchable; repeat it for more',
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
        description: 'the same text makes no second job; default: a random one',
      },
      'upload-again': {
        type: 'boolean',
        description: 'send the file also if it is still stored from an earlier upload',
      },
      'dry-run': { type: 'boolean', description: 'plan and estimate only, nothing is encoded; waits for the result' },
      watch,
      download: downloadTo,
      share: { type: 'boolean', description: 'wait, then create a page that plays the outputs without a key' },
      title,
    },
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
        description: 'only jobs with this metadata; repeat it for more',
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
    options: { to: { type: 'string', value: 'FILE', description: 'its name; default: the archive’s own' } },
  },
  share: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'create a page that plays the outputs without a key',
    options: {
      title,
      expires: { type: 'string', value: 'TIME', description: '45m, 12h or 30d; default 30d' },
      list: { type: 'boolean', description: 'list the pages of the job instead' },
      revoke: { type: 'string', value: 'SHARE', description: 'revoke this one instead' },
    },
  },
  log: {
    usage: 'ID',
    positionalCount: [1, 1],
    description: 'show the ffmpeg commands and messages of a job',
    options: {},
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
    description: 'list or delete uploads, or issue an upload token for a page of yours',
    options: {
      state: { type: 'string', value: 'NAME', description: 'list: only these', values: ['receiving', 'ready'] },
      limit,
      cursor,
      'max-bytes': { type: 'string', value: 'SIZE', description: 'token: largest file, 500MB or 2GB' },
      'max-files': { type: 'string', value: 'N', description: 'token: how many; default 1' },
      expires: { type: 'string', value: 'TIME', description: 'token: 90s to 24h; default 1h' },
      name: { type: 'string', value: 'TEXT', description: 'token: for your own records' },
    },
    subcommands: ['list', 'delete', 'token'],
  },
  limits: { usage: '', positionalCount: [0, 0], description: 'show the limits of the service', options: {} },
  keys: {
    usage: 'list|issue|rotate ID|revoke ID',
    positionalCount: [1, 2],
    description: 'manage API keys; needs an admin key',
    options: {
      account: { type: 'string', value: 'NAME', description: 'issue: whose key it is' },
      label: { type: 'string', value: 'TEXT', description: 'issue: what it is for' },
      scope: {
        type: 'string',
        multiple: true,
        value: 'NAME',
        description: 'issue: jobs (default) or admin',
        values: ['jobs', 'admin'],
      },
    },
    subcommands: ['list', 'issue', 'rotate', 'revoke'],
  },
  vault: {
    usage: 'rotate',
    positionalCount: [1, 1],
    description: 'seal stored credentials again with the newest key of VAULT_KEYS; needs an admin key',
    options: {},
    subcommands: ['rotate'],
  },
  doctor: {
    usage: '[URL]',
    positionalCount: [0, 1],
    description: 'check a deployment and say how to repair what is wrong',
    options: {
      'admin-key': {
        type: 'string',
        value: 'KEY',
        description:
          'lets the service look at itself; else SPLICEPOINT_ADMIN_KEY, which other users of the machine cannot see',
      },
      config: {
        type: 'string',
        value: 'FILE',
        description: 'wrangler.toml to look at; default: the one here, without a URL',
      },
      'no-jobs': { type: 'boolean', description: 'run none' },
      input: { type: 'string', value: 'ADDRESS', description: 'an http address of media that a job reads too' },
      store: {
        type: 'string',
        multiple: true,
        value: 's3://BUCKET/PREFIX',
        description: 'a store that a job writes to as well, with the keys of AWS_ACCESS_KEY_ID, …; repeat it for more',
      },
      timeout: { type: 'string', value: 'SECONDS', description: 'for one job; default 300' },
      idle: { type: 'boolean', description: 'wait 90 seconds more, and see whether idle containers end' },
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
