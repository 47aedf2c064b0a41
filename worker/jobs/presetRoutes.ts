// In charge of: presets (`/api/v0/presets`): the built-in ones and the account's own.
// Not in charge of: the content of a preset (contract/job/validatePreset.ts), jobs that name one
// (validateJobRequest.ts).
import { Hono } from 'hono'
import type { Preset, PresetList } from '#contract/api/answers.ts'
import { MAX_BODY_BYTES, PRESETS } from '#contract/limits.ts'
import { validatePreset } from '#contract/job/validatePreset.ts'
import { builtInPresets, normalizePresetName } from '#contract/job/builtInPresets.ts'
import { authenticate } from '../http/authenticate.ts'
import { readJson } from '../http/jsonBody.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import {
  updatePreset,
  deletePreset,
  findPreset,
  findPresetByIdOrName,
  insertPreset,
  listPresets,
  type StoredPreset,
} from '../db/presets.ts'
import { validationFailed, notFound, RequestError } from '../http/requestError.ts'
import { randomName } from '../util/encoding.ts'

const publicPreset = (row: StoredPreset): Preset => ({
  preset_id: row.id,
  name: row.name,
  description: row.description,
  built_in: false,
  job: row.job,
  updated_at: new Date(row.updated_at).toISOString(),
})

export const presetRoutes = new Hono<AppEnv>()
  .use(authenticate('jobs'))
  .get('/', async (c) => {
    const own = await listPresets(c.env.DB, c.get('account'))
    return c.json({ presets: [...builtInPresets, ...own.map(publicPreset)] } satisfies PresetList)
  })
  .post('/', async (c) => {
    const [account, now] = [c.get('account'), Date.now()]
    const wish = read((await readJson(c, MAX_BODY_BYTES)).value, publicBaseUrl(c))
    const id = `pre_${randomName(9)}`
    const row = { ...wish, id, account, created_at: now, updated_at: now }
    if (!(await insertPreset(c.env.DB, row, PRESETS.per_account))) {
      const other = await findPresetByIdOrName(c.env.DB, account, '', wish.folded)
      throw other ? nameTaken(wish.name) : tooMany()
    }
    return c.json(publicPreset(row), 201, { location: `${publicBaseUrl(c)}/api/v0/presets/${id}` })
  })
  .get('/:id', async (c) => {
    const id = c.req.param('id')
    const preset = builtInPresets.find(({ preset_id }) => preset_id === id)
    if (preset) return c.json(preset)
    const row = await findPreset(c.env.DB, c.get('account'), id)
    if (!row) throw notFound()
    return c.json(publicPreset(row))
  })
  .put('/:id', async (c) => {
    const [account, id] = [c.get('account'), c.req.param('id')]
    refuseBuiltIn(id)
    // First: for a missing preset the answer is 404, whatever the body contains.
    if (!(await findPreset(c.env.DB, account, id))) throw notFound()
    const wish = read((await readJson(c, MAX_BODY_BYTES)).value, publicBaseUrl(c))
    const row = await updatePreset(c.env.DB, { ...wish, id, account, updated_at: Date.now() })
    if (row) return c.json(publicPreset(row))
    if (await findPreset(c.env.DB, account, id)) throw nameTaken(wish.name)
    throw notFound()
  })
  .delete('/:id', async (c) => {
    const id = c.req.param('id')
    refuseBuiltIn(id)
    if (!(await deletePreset(c.env.DB, c.get('account'), id))) throw notFound()
    return c.body(null, 204)
  })

/** @throws RequestError 400 with all problems */
function read(value: unknown, base: string) {
  const judged = validatePreset(value, { baseUrl: base })
  if (!judged.ok) throw validationFailed(judged.problems)
  const { name, description, job } = judged.preset
  return { name, folded: normalizePresetName(name), description, job }
}

function refuseBuiltIn(id: string): void {
  if (!builtInPresets.some(({ preset_id }) => preset_id === id)) return
  throw new RequestError('forbidden', `The preset "${id}" is built in and cannot be changed. Save a copy of it.`)
}

function nameTaken(name: string): RequestError {
  const message = `This account already has a preset named ${JSON.stringify(name)}. Choose another name, or change that preset (PUT).`
  return new RequestError('conflict', message, { field: 'name' })
}

function tooMany(): RequestError {
  const message = `This account has ${PRESETS.per_account} presets, which is the maximum. Delete one that is no longer needed.`
  return new RequestError('quota_exceeded', message, { details: { maximum: PRESETS.per_account } })
}
