// In charge of: the operations of the service itself.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { json, type Operation } from './operation.ts'

export const serviceOperations: Record<string, Operation> = {
  'GET /health': {
    id: 'getHealth',
    summary: 'Whether the service can take jobs',
    description:
      'Answers 200 when jobs can be created. With 503, `missing` names the settings or bindings that are absent. Meant for load balancers and uptime checks.',
    auth: null,
    status: 200,
    answers: json('Health', example.health),
    errors: [],
    curl: 'curl "$BASE/health"',
  },
  'GET /api/v0/limits': {
    id: 'getLimits',
    summary: 'Read the limits',
    description:
      'Answers with every limit of the service: sizes, counts, text lengths, minimum bitrates, audio bitrates, quotas and retention.',
    auth: null,
    status: 200,
    answers: json('Limits', example.limits),
    errors: [],
    curl: 'curl "$BASE/api/v0/limits"',
  },
}
