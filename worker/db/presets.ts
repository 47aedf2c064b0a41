// In charge of: the SQL of an account's own presets. One statement per function.
// Not in charge of: what a preset may contain (contract/job/validatePreset.ts).
import type { JsonObject } from '#contract/job/fieldReader.ts'
import { all, first } from './statement.ts'

export interface StoredPreset {
  id: string
  account: string
  name: string
  folded: string
  description: string
  /** As the client sent it. */
  job: JsonObject
  created_at: number
  updated_at: number
}

type PresetRow = Omit<StoredPreset, 'job'> & { job: string }

function decodePreset(row: PresetRow): StoredPreset {
  return { ...row, job: JSON.parse(row.job) as JsonObject }
}

/** In the order of their names. */
export async function listPresets(db: D1Database, account: string): Promise<StoredPreset[]> {
  const results = await all<PresetRow>(db, `SELECT * FROM presets WHERE account = ?1 ORDER BY folded`, [account])
  return results.map(decodePreset)
}

/** Another account's preset looks like a missing one (I16). */
export async function findPreset(db: D1Database, account: string, id: string): Promise<StoredPreset | null> {
  const row = await first<PresetRow>(db, `SELECT * FROM presets WHERE id = ?1 AND account = ?2`, [id, account])
  return row && decodePreset(row)
}

/** By id or by name. No name has the form of an id. */
export async function findPresetByIdOrName(
  db: D1Database,
  account: string,
  id: string,
  folded: string,
): Promise<StoredPreset | null> {
  const row = await first<PresetRow>(db, `SELECT * FROM presets WHERE account = ?1 AND (id = ?2 OR folded = ?3)`, [
    account,
    id,
    folded,
  ])
  return row && decodePreset(row)
}

/**
 * Counted inside the INSERT, so that concurrent requests cannot exceed the limit. → false if the name exists, or too
 * many
 */
export async function insertPreset(db: D1Database, preset: StoredPreset, maximum: number): Promise<boolean> {
  const row = await first(
    db,
    `INSERT INTO presets (id, account, name, folded, description, job, created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 WHERE (SELECT COUNT(*) FROM presets WHERE account = ?2) < ?8
       ON CONFLICT (account, folded) DO NOTHING RETURNING id`,
    [
      preset.id,
      preset.account,
      preset.name,
      preset.folded,
      preset.description,
      JSON.stringify(preset.job),
      preset.created_at,
      maximum,
    ],
  )
  return row !== null
}

/** → the preset after the change; null if it does not exist, or another one has the name */
export async function updatePreset(
  db: D1Database,
  preset: Omit<StoredPreset, 'created_at'>,
): Promise<StoredPreset | null> {
  const row = await first<PresetRow>(
    db,
    `UPDATE OR IGNORE presets SET name = ?3, folded = ?4, description = ?5, job = ?6, updated_at = ?7
       WHERE id = ?1 AND account = ?2 RETURNING *`,
    [
      preset.id,
      preset.account,
      preset.name,
      preset.folded,
      preset.description,
      JSON.stringify(preset.job),
      preset.updated_at,
    ],
  )
  return row && decodePreset(row)
}

export async function deletePreset(db: D1Database, account: string, id: string): Promise<boolean> {
  const row = await first(db, `DELETE FROM presets WHERE id = ?1 AND account = ?2 RETURNING id`, [id, account])
  return row !== null
}
