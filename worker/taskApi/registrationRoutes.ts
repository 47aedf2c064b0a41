// In charge of: `/task/transcoders/:id`, where transcoders on other machines register themselves, with the shared secret.
// Not in charge of: whether a registration is accepted (registerTranscoder.ts), the list for administrators
// (admin/transcoderRoutes.ts).
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { deregistrationSchema, registrationSchema, TRANSCODER_ID } from '#contract/task/registration.ts'
import { deleteTranscoder } from '../db/transcoders.ts'
import { settings } from '../env.ts'
import { assertSettingsValid } from '../http/authenticate.ts'
import type { AppEnv } from '../http/context.ts'
import { readJson } from '../http/jsonBody.ts'
import { RequestError } from '../http/requestError.ts'
import { log } from '../log.ts'
import { hmacSign, hmacVerify } from '../secrets/hmac.ts'
import { parseMessage } from './parseMessage.ts'
import { registerTranscoder } from './registerTranscoder.ts'

const MAX_BODY = 16 * 1024
const LABEL = 'transcoder-registration'

const authenticateTranscoder = createMiddleware<AppEnv>(async (c, next) => {
  assertSettingsValid(c.env)
  if (settings(c.env).transcoders !== 'registered')
    throw new RequestError('not_found', 'Transcoders do not register themselves at this service (docs/operating.md).')
  const given = /^Bearer ([\x21-\x7e]{1,500})$/.exec(c.req.header('authorization') ?? '')?.[1] ?? ''
  // Both sides are signed, so that the comparison takes the same time for every guess.
  const expected = await hmacSign(c.env, LABEL, c.env.TRANSCODER_SECRET ?? '')
  if (!(await hmacVerify(c.env, LABEL, given, expected))) {
    throw new RequestError('unauthorized', 'TRANSCODER_SECRET is missing or is not that of this service.', {
      headers: { 'www-authenticate': 'Bearer' },
    })
  }
  return next()
})

function idOf(text: string): string {
  if (TRANSCODER_ID.test(text)) return text
  throw new RequestError(
    'invalid_request',
    'A transcoder’s id has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or a digit.',
  )
}

export const registrationRoutes = new Hono<AppEnv>()
  .put('/task/transcoders/:id', authenticateTranscoder, async (c) => {
    const id = idOf(c.req.param('id'))
    const given = parseMessage(registrationSchema, (await readJson(c, MAX_BODY)).value)
    return c.json(await registerTranscoder(c.env, id, given))
  })
  .delete('/task/transcoders/:id', authenticateTranscoder, async (c) => {
    const id = idOf(c.req.param('id'))
    const { instance } = parseMessage(deregistrationSchema, (await readJson(c, MAX_BODY)).value)
    if (await deleteTranscoder(c.env.DB, id, instance)) log.info('transcoder deregistered', { transcoder: id })
    return c.body(null, 204)
  })
