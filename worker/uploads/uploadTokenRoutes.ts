// In charge of: issuing and revoking upload tokens (`/api/v0/uploads/tokens`).
// Not in charge of: what a token allows (authenticateUpload.ts).
import { Hono } from 'hono'
import type { UploadToken } from '#contract/api/answers.ts'
import { newUploadToken } from '#contract/api/requestBodies.ts'
import { MAX_RESUMABLE_BYTES, UPLOAD_TOKENS } from '#contract/limits.ts'
import { authenticate } from '../http/authenticate.ts'
import { readOptionalJson } from '../http/jsonBody.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import { findApiKey } from '../db/apiKeys.ts'
import { deleteUploadToken, insertUploadToken } from '../db/uploadTokens.ts'
import { notFound, RequestError } from '../http/requestError.ts'
import { parseFields } from '../http/validationErrors.ts'
import { configuredKeyHash, createUploadToken } from './authenticateUpload.ts'
import { randomName } from '../util/encoding.ts'

const MAX_BODY = 16 * 1024
const { max_files: files, expires_in_seconds: life, name_characters: NAME } = UPLOAD_TOKENS

const rangeExpectation = ({ minimum, maximum }: { minimum: number; maximum: number }) => ({
  expects: `a whole number from ${minimum} to ${maximum}`,
  minimum,
  maximum,
})
const expectations = {
  max_bytes: rangeExpectation({ minimum: 1, maximum: MAX_RESUMABLE_BYTES }),
  max_files: rangeExpectation(files),
  expires_in_seconds: rangeExpectation(life),
  name: { expects: `a string of at most ${NAME} characters on one line` },
}

export const uploadTokenRoutes = new Hono<AppEnv>()
  .use(authenticate('jobs'))
  .post('/', async (c) => {
    const { value } = await readOptionalJson(c, MAX_BODY)
    const { max_bytes, max_files, expires_in_seconds, name } = parseFields(newUploadToken, value, expectations)
    const [now, keyId] = [Date.now(), c.get('keyId')]
    const row = {
      id: `ut_${randomName(9)}`,
      account: c.get('account'),
      key_id: keyId,
      key_hash: keyId === 'configured' ? await configuredKeyHash(c.env) : null,
      name,
      max_bytes,
      max_files,
      created_at: now,
      expires_at: now + expires_in_seconds * 1000,
    }
    if (!(await insertUploadToken(c.env.DB, row, UPLOAD_TOKENS.per_account))) throw await quotaError(c.env, keyId)
    const answer: UploadToken = {
      token_id: row.id,
      token: await createUploadToken(c.env, row.id, row.expires_at),
      upload_url: `${publicBaseUrl(c)}/uploads`,
      name,
      max_bytes,
      max_files,
      expires_at: new Date(row.expires_at).toISOString(),
    }
    return c.json(answer, 201, { 'cache-control': 'no-store' })
  })
  .delete('/:id', async (c) => {
    if (!(await deleteUploadToken(c.env.DB, c.get('account'), c.req.param('id')))) throw notFound()
    return c.body(null, 204)
  })

async function quotaError(env: Env, keyId: string): Promise<RequestError> {
  const key = await findApiKey(env.DB, keyId)
  if (key?.revoked_at) return new RequestError('unauthorized', 'This API key was revoked.')
  const { per_account: maximum } = UPLOAD_TOKENS
  const message = `This account has ${maximum} upload tokens that have not expired, which is the maximum. Use shorter lifetimes.`
  return new RequestError('quota_exceeded', message, { headers: { 'retry-after': '60' }, details: { maximum } })
}
