// In charge of: migrations that have been applied somewhere stay as they are. A database would otherwise depend on the day
// on which it was migrated; an upgrade from the first version failed for that reason.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../../support/service.ts'

/** The first digits of the SHA-256 of the statements, without comments and spaces. A new migration adds its line. */
const STATEMENTS: Readonly<Record<string, string>> = {
  '0001_initial': '710f1be993bb',
  '0002_dry_run': '03db9f13b66e',
  '0003_operations': '101bec213f74',
  '0004_webhooks_and_quotas': 'ee27708abba6',
  '0005_search': '6b4ee9012275',
  '0006_key_quotas': '59dafac7359e',
  '0007_indexes_of_what_is_left': 'd49ddbfb26af',
  '0008_turns': 'c14a491f8ac4',
  '0009_failed_starts': '2b79e5dd2dd5',
  '0010_marks': '25f94ce941d0',
  '0011_shares': 'd4d405d14472',
  '0012_upload_tokens_presets_metadata': '916317060db0',
  '0013_facts': '967aceb87d5d',
  '0014_failed_start_count': '69ab6841b417',
  '0015_lost_attempts': '3fd8b28ade1e',
  '0016_metric_totals': '847202b0f054',
  '0017_transcoders': 'bcd262f1140d',
  '0018_usage': '444cf0dcb086',
  '0019_parts': 'aa4006396456',
  '0020_other_builds': 'af21063ac7ca',
  '0021_survey_parts': '29da76515201',
  '0022_deadlines': '492a6dcef046',
}

const directory = join(ROOT, 'migrations')

async function statementHash(file: string): Promise<string> {
  const sql = await readFile(join(directory, file), 'utf8')
  const statements = sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim()
  return createHash('sha256').update(statements).digest('hex').slice(0, 12)
}

test('no migration has changed', async () => {
  const files = (await readdir(directory)).toSorted()
  const hashes = await Promise.all(files.map(async (file) => [file.replace(/\.sql$/, ''), await statementHash(file)]))
  expect(Object.fromEntries(hashes)).toEqual(STATEMENTS)
})
