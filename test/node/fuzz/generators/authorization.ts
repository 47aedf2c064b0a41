// In charge of: the authentication of a request: keys of each scope, none, and Authorization headers that a parser may
// get wrong.
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

export interface Authorization {
  /** Scopes of the key as the service should see it; null = no valid key. */
  scopes: readonly ('jobs' | 'admin')[] | null
  /** The Authorization header, with placeholders; null = none. */
  header: string | null
}

const known = (who: string, ...scopes: ('jobs' | 'admin')[]): Authorization => ({
  scopes,
  header: `Basic {{basic.${who}}}`,
})

/** Valid forms of one key (RFC 9110, 11.1: the scheme in any case; the password is ignored). */
const loose: Authorization[] = ['basic {{basic.jobs}}', 'BASIC   {{basic.jobs}}', 'Basic {{password.jobs}}'].map(
  (header) => ({
    scopes: ['jobs'],
    header,
  }),
)

const nobody: Authorization[] = [
  [null],
  ['', 'Basic', 'Basic ', 'Basic =', 'Basic !!!!', 'Basic Og==', 'Basic YQ==', 'Basic \u00ff', 'Negotiate abc'],
  ['Bearer {{key.jobs}}', 'Basic {{key.jobs}}', 'Basic {{basic.revoked}}', 'Basic {{basic.changed}}'],
  ['Basic {{basic.jobs}} {{basic.jobs}}', 'Basic {{basic.jobs}}, Basic {{basic.jobs}}', 'Digest username="a"'],
  [
    'Basic {{basic.id}}',
    'Bearer {{task.token}}',
    'Bearer {{token.own}}',
    'Bearer {{bearer.own}}A',
    'Basic {{basic.token}}',
    `Basic ${'QQ'.repeat(2000)}`,
  ],
]
  .flat()
  .map((header) => ({ scopes: null, header }))

export function authorizationFor(scope: 'jobs' | 'admin' | null): Arbitrary<Authorization> {
  const right = known(scope ?? 'jobs', scope ?? 'jobs')
  const wrong = scope === 'admin' ? known('jobs', 'jobs') : known('admin', 'admin')
  return fc.oneof(
    { arbitrary: fc.constant(right), weight: 24 },
    { arbitrary: fc.constantFrom(known('both', 'jobs', 'admin'), ...(scope === 'admin' ? [] : loose)), weight: 3 },
    { arbitrary: fc.constant(wrong), weight: 2 },
    { arbitrary: fc.constantFrom(...nobody), weight: 3 },
  )
}
