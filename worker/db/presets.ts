// In charge of: the SQL of an account's own presets, one statement a function.

export interface PresetRow {
  id: string
  account: string
  name: string
  folded: string
  description: string
  /** JSON, as it was given. */
  job: string
  created_at: number
  updated_at: number
}

/** In the order of their names. */
export async function listPresets(db: D1Database, account: string): Promise<PresetRow[]> {
  const { results } = await db
    .prepare(`SELECT * FROM presets WHERE account = ?1 ORDER BY folded`)
    .bind(account)
    .all<PresetRow>()
  return results
}

/** Another account's preset is as absent as a missing one (I16). */
export function findPreset(db: D1Database, account: string, id: string): Promise<PresetRow | null> {
  return db.prepare(`SELECT * FROM presets WHERE id = ?1 AND account = ?2`).bind(id, account).first<PresetRow>()
}

/** By its id, or by its name. No name looks like an id. */
export function findPresetByEither(db: D1Database, account: string, id: string, folded: string) {
  return db
    .prepare(`SELECT * FROM presets WHERE account = ?1 AND (id = ?2 OR folded = ?3)`)
    .bind(account, id, folded)
    .first<PresetRow>()
}

/** Counted in the statement that inserts: no race exceeds the bound. → false where the name is taken, or there are too many */
export async function insertPreset(db: D1Database, preset: PresetRow, maximum: number): Promise<boolean> {
  const row = await db
    .prepare(
      `INSERT INTO presets (id, account, name, folded, description, job, created_at, updated_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7 WHERE (SELECT COUNT(*) FROM presets WHERE account = ?2) < ?8
       ON CONFLICT (account, folded) DO NOTHING RETURNING id`,
    )
    .bind(
      preset.id,
      preset.account,
      preset.name,
      preset.folded,
      preset.description,
      preset.job,
      preset.created_at,
      maximum,
    )
    .first()
  return row !== null
}

/** → the preset afterwards; null where it is not there, or another has the name */
export function changePreset(db: D1Database, preset: Omit<PresetRow, 'created_at'>): Promise<PresetRow | null> {
  return db
    .prepare(
      `UPDATE OR IGNORE presets SET name = ?3, folded = ?4, description = ?5, job = ?6, updated_at = ?7
       WHERE id = ?1 AND account = ?2 RETURNING *`,
    )
    .bind(preset.id, preset.account, preset.name, preset.folded, preset.description, preset.job, preset.updated_at)
    .first<PresetRow>()
}

export async function deletePreset(db: D1Database, account: string, id: string): Promise<boolean> {
  const row = await db
    .prepare(`DELETE FROM presets WHERE id = ?1 AND account = ?2 RETURNING id`)
    .bind(id, account)
    .first()
  return row !== null
}
