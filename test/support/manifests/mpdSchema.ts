// In charge of: validating an MPD against the schema of ISO/IEC 23009-1, which we may not distribute.
// Not in charge of: rules that the schema does not express.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'
import { skipTest } from '../requirement.ts'
import { tempDirectory } from '../media/media.ts'

const run = promisify(execFile)

/**
 * Rejects with xmllint's message if the manifest is invalid. Skips the test if the schema or xmllint is missing; with
 * REQUIRE_ALL it fails.
 */
export async function expectValidMpd(text: string, context: TestContext): Promise<void> {
  const media = process.env.TEST_MEDIA_DIR ?? resolve(import.meta.dirname, '../../../../shared/media')
  const directory = process.env.DASH_SCHEMA_DIR ?? join(media, '..', 'schema')
  const schema = join(directory, 'DASH-MPD.xsd')
  const missing = !existsSync(schema)
    ? 'the schema of DASH (DASH_SCHEMA_DIR)'
    : await run('xmllint', ['--version']).then(
        () => null,
        () => 'xmllint',
      )
  if (missing !== null) skipTest(context, `needs ${missing}`)
  await using directoryOfOne = await tempDirectory()
  const file = directoryOfOne.file('manifest.mpd')
  await writeFile(file, text)
  await run('xmllint', ['--nonet', '--noout', '--schema', schema, file])
}
