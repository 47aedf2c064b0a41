// In charge of: the operation of an account's own usage, and what all operations of usage share.
// Not in charge of: the usage of all accounts (administrationOperations.ts), their form (operation.ts).
import * as example from '../examples.ts'
import { stringSchema } from '../schemaParts.ts'
import { json, type OperationTable } from './operation.ts'

export const usageQuery = {
  month: {
    ...stringSchema,
    pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$',
    description: 'A calendar month in UTC, such as `2026-11`. Default: the current one.',
  },
  format: {
    ...stringSchema,
    enum: ['json', 'csv'],
    description: 'Default: csv if `Accept` prefers `text/csv`, otherwise json.',
  },
}

export const usageTable = {
  status: 200,
  description: 'With `format=csv`: one row for each line (RFC 4180)',
  type: 'text/csv',
  schema: stringSchema,
}

export const usageOperations: OperationTable = {
  'GET /api/v0/usage': {
    id: 'getUsage',
    summary: 'Read the usage of the account',
    description:
      'Returns what the account used in a month: hours of source and output by class, stills, CPU time, bytes in and out, and their cost by the price list of the operator.',
    auth: 'jobs',
    query: usageQuery,
    answers: json('Usage', example.usage),
    others: [usageTable],
    errors: ['invalid_request'],
    curl: 'curl -u "$KEY:" "$BASE/api/v0/usage"',
  },
}
