// In charge of: the operations of webhook secrets, API keys, accounts, the vault, diagnosis and metrics.
// Not in charge of: their form (operation.ts), example answers (examples.ts).
import * as example from '../examples.ts'
import { schemaRef, stringSchema } from '../schemaParts.ts'
import { body, json, type OperationTable } from './operation.ts'
import { usageQuery, usageTable } from './usageOperations.ts'

const admin = (rest: string, options = ''): string => `curl -u "$SPLICEPOINT_ADMIN_KEY:" ${options}"$BASE${rest}"`

export const administrationOperations: OperationTable = {
  'GET /api/v0/webhooks/secret': {
    id: 'getWebhookSecret',
    summary: 'Read when the webhook secret was created',
    description: 'Returns only the times: the secret itself is shown only when it is created.',
    auth: 'jobs',
    answers: json('WebhookSecret', example.secretFacts),
    curl: 'curl -u "$KEY:" "$BASE/api/v0/webhooks/secret"',
  },
  'POST /api/v0/webhooks/secret/rotate': {
    id: 'rotateWebhookSecret',
    summary: 'Create a new webhook secret',
    description:
      'Creates a secret that signs webhooks. Webhooks are signed with both secrets until the old one expires.',
    auth: 'jobs',
    status: 201,
    answers: json('NewWebhookSecret', example.newSecret),
    curl: 'curl -u "$KEY:" -X POST "$BASE/api/v0/webhooks/secret/rotate"',
  },
  'GET /api/v0/keys': {
    id: 'listKeys',
    summary: 'List API keys',
    description: 'Lists all keys of the service, without their secrets.',
    auth: 'admin',
    answers: json('KeyList', { keys: [example.key] }),
    curl: admin('/api/v0/keys'),
  },
  'POST /api/v0/keys': {
    id: 'createKey',
    summary: 'Create an API key',
    description: 'Issues a key for an account. The answer contains its secret, which is never shown again.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('NewKey'), example: example.newKey },
    status: 201,
    answers: json('IssuedKey', example.issuedKey),
    errors: ['invalid_request', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/keys', body(example.newKey)),
  },
  'PATCH /api/v0/keys/{key}': {
    id: 'updateKey',
    summary: 'Change an API key',
    description:
      'Changes the label, the quotas or the default webhook address. Members that are left out stay as they are.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('KeyChange'), example: example.keyChange },
    answers: json('Key', example.key),
    errors: ['invalid_request', 'not_found', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/keys/$KEY_ID', `-X PATCH ${body(example.keyChange)}`),
  },
  'POST /api/v0/keys/{key}/rotate': {
    id: 'rotateKey',
    summary: 'Replace an API key',
    description: 'Creates a new key with the same account, scopes and quotas, and revokes the old one.',
    auth: 'admin',
    status: 201,
    answers: json('ReplacedKey', example.replacedKey),
    errors: ['not_found'],
    curl: admin('/api/v0/keys/$KEY_ID/rotate', '-X POST '),
  },
  'DELETE /api/v0/keys/{key}': {
    id: 'revokeKey',
    summary: 'Revoke an API key',
    description: 'Requests with the key are refused from now on. Its jobs and uploads stay.',
    auth: 'admin',
    status: 204,
    answers: null,
    errors: ['not_found'],
    curl: admin('/api/v0/keys/$KEY_ID', '-X DELETE '),
  },
  'GET /api/v0/accounts': {
    id: 'listAccounts',
    summary: 'List accounts',
    description: 'Lists all accounts that have a key, with their quotas.',
    auth: 'admin',
    answers: json('AccountList', { accounts: [example.account] }),
    curl: admin('/api/v0/accounts'),
  },
  'PUT /api/v0/accounts/{account}': {
    id: 'setQuotas',
    summary: 'Set the quotas of an account',
    description: 'Replaces the quotas. A member that is left out or null is set to the default of the service.',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('Quotas'), example: example.quotas },
    answers: json('Account', example.account),
    errors: ['invalid_request', 'not_found', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/accounts/me', `-X PUT ${body(example.quotas)}`),
  },
  'PUT /api/v0/accounts/{account}/spend-cap': {
    id: 'setSpendCap',
    summary: 'Set the spend cap of an account',
    description:
      'Replaces the cap and the address that is notified at 80 % and 100 % of it. Once the cap is spent, new jobs of the account are refused until the next month begins (UTC); accepted jobs continue. Needs a price list (USAGE_PRICES).',
    auth: 'admin',
    body: { type: 'application/json', schema: schemaRef('SpendCap'), example: example.spendCap },
    answers: json('Account', example.account),
    errors: ['invalid_request', 'not_found', 'too_large', 'unsupported_media_type'],
    curl: admin('/api/v0/accounts/me/spend-cap', `-X PUT ${body(example.spendCap)}`),
  },
  'GET /api/v0/usage/accounts': {
    id: 'listUsage',
    summary: 'Read the usage of all accounts',
    description: 'Returns what all accounts used in a month, with its cost by the price list of the operator.',
    auth: 'admin',
    query: usageQuery,
    answers: json('UsageOfAccounts', example.usageOfAccounts),
    others: [usageTable],
    errors: ['invalid_request'],
    curl: admin('/api/v0/usage/accounts'),
  },
  'GET /api/v0/transcoders': {
    id: 'listTranscoders',
    summary: 'List registered transcoders',
    description:
      'Lists the transcoders that registered themselves, at most 1,000. One that has not registered for 15 minutes is forgotten. Empty with containers and with `TRANSCODER_URLS`.',
    auth: 'admin',
    answers: json('TranscoderList', example.transcoders),
    curl: admin('/api/v0/transcoders'),
  },
  'POST /api/v0/vault/rotate': {
    id: 'rotateVault',
    summary: 'Re-encrypt credentials with the newest vault key',
    description:
      'Encrypts one batch of credentials again. Repeat the call with `next` and `next_key` of the answer until `done` is true.',
    auth: 'admin',
    query: {
      after: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
      after_key: { ...stringSchema, pattern: '^(sp_[A-Za-z0-9_-]{12})?$', default: '' },
    },
    answers: json('VaultRotation', example.rotation),
    errors: ['invalid_request'],
    curl: admin('/api/v0/vault/rotate', '-X POST '),
  },
  'POST /api/v0/diagnosis': {
    id: 'diagnose',
    summary: 'Check every part of the service',
    description:
      'Checks database, store, queue, transcoders and settings from within the service. Everything that the checks write is removed again.',
    auth: 'admin',
    answers: json('Diagnosis', example.diagnosis),
    curl: admin('/api/v0/diagnosis', '-X POST '),
  },
  'GET /metrics': {
    id: 'getMetrics',
    summary: 'Read the metrics',
    description:
      'Returns the metrics of the service in the text format of Prometheus, version 0.0.4: counters and histograms that survive restarts, and gauges. `docs/monitoring.md` lists them.',
    auth: 'admin',
    answers: { type: 'text/plain', schema: stringSchema, example: example.metrics },
    curl: admin('/metrics'),
  },
}
