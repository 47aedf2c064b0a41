// In charge of: the list of what a backup contains (backup.json), and which checkouts can use it.
// Not in charge of: copying (takeBackup.ts, ../restore.ts).
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isAbsolute, join, normalize } from 'node:path'
import { z } from 'zod'
import { currentCommit } from '../local/currentCommit.ts'
import { ROOT } from '../local/localSettings.ts'

const NAME = 'backup.json'
/** Version of the layout of a backup. */
const FORMAT = 1

const manifestSchema = z.object({
  format: z.number(),
  version: z.string(),
  commit: z.string(),
  created_at: z.string(),
  /** File names of the migrations that the database has. */
  migrations: z.array(z.string()),
  files: z.array(
    z.object({
      path: z.string().check(
        z.refine((path) => !isAbsolute(path) && normalize(path) === path && !path.startsWith('..'), {
          error: 'not a path in the backup',
        }),
      ),
      size: z.number(),
      sha256: z.string(),
    }),
  ),
})
export type BackupManifest = z.infer<typeof manifestSchema>
export type BackupFile = BackupManifest['files'][number]

/** Written last: a directory without it is not a complete backup. */
export async function writeManifest(
  directory: string,
  content: Pick<BackupManifest, 'migrations' | 'files'>,
): Promise<void> {
  const manifest: BackupManifest = {
    format: FORMAT,
    version: await ownVersion(),
    commit: await currentCommit(),
    created_at: new Date().toISOString(),
    ...content,
  }
  const draft = join(directory, `${NAME}.part`)
  await writeFile(draft, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600, flush: true })
  await rename(draft, join(directory, NAME))
}

/** @throws Error with a message for people if it is no complete backup, or one that this checkout cannot use */
export async function readManifest(directory: string): Promise<BackupManifest> {
  let text: string
  try {
    text = await readFile(join(directory, NAME), 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? `it has no ${NAME}` : `${NAME} cannot be read (${code})`
    throw new Error(`${directory} is not a complete backup: ${why}.`, { cause: error })
  }
  const { data, error } = manifestSchema.safeParse(parsed(text))
  if (data === undefined) throw new Error(`${join(directory, NAME)} is damaged.`, { cause: error })
  if (data.format !== FORMAT)
    throw new Error(`The backup has format ${data.format}; this version reads format ${FORMAT}.`)
  const known = new Set(await readdir(join(ROOT, 'migrations')))
  const unknown = data.migrations.filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw new Error(
      `The backup was made by version ${data.version}${data.commit === '' ? '' : ` (${data.commit})`} and has migrations that this version, ${await ownVersion()}, does not have: ${unknown.join(', ')}. Check out that version or a newer one.`,
    )
  return data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function ownVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
}
