// In charge of: `presets`: named jobs without a source.
import type { Preset } from '#contract/api/answers.ts'
import type { Client } from '../../client/nodeClient.ts'
import { ServiceError } from '../../client/clientErrors.ts'
import type { PresetJob } from '../../client/jobRequest.ts'
import type { CommandResult } from '../commandResult.ts'
import { UsageError } from '../cliErrors.ts'
import { readBody } from './jobBody.ts'
import { keyValueLines } from '../text/terminal.ts'

export interface PresetFlags {
  file?: string | undefined
  description?: string | undefined
}

export async function presetsCommand(
  client: Client,
  words: readonly string[],
  { file, description }: PresetFlags,
  width: number | null,
): Promise<CommandResult> {
  const [action = '', name] = words
  if (action === 'list' && name === undefined) {
    const document = await client.presets()
    return { document, text: listed(document.presets, width) }
  }
  if (name === undefined || !['show', 'save', 'delete'].includes(action)) {
    throw new UsageError(
      'Write: presets list, presets show NAME, presets save NAME --file JSON, or presets delete NAME',
    )
  }
  const { presets: all } = await client.presets()
  const found = all.find((one) => one.preset_id === name) ?? all.find((one) => isSameName(one.name, name))
  if (action === 'save') {
    if (file === undefined) throw new UsageError(`The job is missing: splicepoint presets save ${name} --file job.json`)
    // The service validates it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for that reason
    const job = (await readBody(file)) as unknown as PresetJob
    const wish = { name: found?.name ?? name, job, ...(description === undefined ? {} : { description }) }
    const own = found && !found.built_in
    const document = await (own ? client.replacePreset(found.preset_id, wish) : client.createPreset(wish))
    return { document, text: `Preset ${document.name} is ${own ? 'replaced' : 'saved'} (${document.preset_id}).` }
  }
  if (!found) throw new ServiceError(404, refusal(`There is no preset ${name}: splicepoint presets list`))
  if (action === 'show') return { document: found, text: JSON.stringify(found.job, null, 2) }
  await client.deletePreset(found.preset_id)
  return { document: { deleted: found.preset_id }, text: `Preset ${found.name} is deleted.` }
}

const isSameName = (a: string, b: string): boolean =>
  a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase()

const refusal = (message: string): string => JSON.stringify({ error: { code: 'not_found', message } })

function listed(found: readonly Preset[], width: number | null): string {
  const rows = found.map(({ preset_id, name, description }): [string, string] => [preset_id, `${name}: ${description}`])
  return keyValueLines(rows, width ?? Infinity)
}
