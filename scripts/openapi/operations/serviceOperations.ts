// In charge of: the operations of the service itself.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { json, type OperationTable } from './operation.ts'

export const serviceOperations: OperationTable = {
  'GET /health': {
    id: 'getHealth',
    summary: 'Check whether the service can create jobs',
    description:
      'Returns 200 when jobs can be created. With 503, `missing` lists the missing settings and bindings. Intended for load balancers and uptime checks.',
    auth: null,
    answers: json('Health', example.health),
    curl: 'curl "$BASE/health"',
  },
  'GET /api/v0/limits': {
    id: 'getLimits',
    summary: 'Read the limits',
    description:
      'Returns all limits of the service: sizes, counts, text lengths, minimum bitrates, audio bitrates, quotas and retention.',
    auth: null,
    answers: json('Limits', example.limits),
    curl: 'curl "$BASE/api/v0/limits"',
  },
}
