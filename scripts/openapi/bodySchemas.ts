// In charge of: the JSON Schema of request bodies other than a job's.
// Not in charge of: job bodies (requestSchemas.ts), validation (contract/api/requestBodies.ts, validatePreset.ts).
import * as z from 'zod'
import {
  keyChange,
  newKey,
  newShare,
  newUploadToken,
  openedShare,
  quotas,
  retry,
  spendCap,
} from '#contract/api/requestBodies.ts'
import { MAX_LENGTH, PRESETS } from '#contract/limits.ts'
import { described } from '#contract/schemaParts.ts'
import { foldNull, nullable, schemaRef, stringSchema, type Schema } from './schemaParts.ts'

function body(schema: z.core.$ZodType, texts: Readonly<Record<string, string>>): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(described(schema, texts), {
    io: 'input',
    override: ({ jsonSchema }) => foldNull(jsonSchema),
  })
  return made
}

const ofKey = {
  requests_per_minute: 'null = the default of the service.',
  priority: 'Higher starts first.',
  max_stored_upload_bytes: 'null = no limit except the account’s.',
  webhook_url: 'For jobs without a webhook_url.',
}

/** validatePreset.ts validates the job of a preset like a job's body, with the same messages. */
const newPreset: Schema = {
  type: 'object',
  properties: {
    name: {
      ...stringSchema,
      pattern: `^${PRESETS.name_pattern}$`,
      not: { pattern: String.raw`^\s*([Pp][Rr][Ee]_|$)` },
      description: 'Must not look like an id, and must not be the name of a built-in preset.',
    },
    description: { ...stringSchema, maxLength: PRESETS.description_characters, default: '' },
    job: schemaRef('PresetJob'),
  },
  required: ['name', 'job'],
  additionalProperties: false,
}

/** Credentials and addresses are validated like those of a job. */
function retryBody(): Schema {
  const made = body(retry, {})
  const address: Schema = { type: ['string', 'null'], maxLength: MAX_LENGTH.address }
  return {
    ...made,
    properties: {
      ...(made['properties'] as Record<string, Schema>),
      cloud_credentials: {
        type: ['object', 'null'],
        properties: { input: schemaRef('Credential'), output: nullable(schemaRef('Credential')) },
        required: ['input'],
        description: 'Replaces the stored credentials; required from 72 hours after the end of the job.',
      },
      input: { ...address, minLength: 1 },
      logo_url: address,
      webhook_url: address,
    },
  }
}

export const bodySchemas = {
  NewShare: body(newShare, {
    title: 'Shown on the page. Default: the name of the source.',
    expires_in_seconds: 'A share ends earlier if its outputs are removed earlier.',
    password: 'Viewers must enter it. null = none.',
  }),
  OpenedShare: body(openedShare, {}),
  NewPreset: newPreset,
  NewUploadToken: body(newUploadToken, {
    max_bytes: 'Maximum size of each file.',
    name: 'Your own label, such as the id of the visitor; returned with each upload.',
  }),
  Retry: retryBody(),
  NewKey: body(newKey, { ...ofKey, expires_in_seconds: 'null = the key does not expire.' }),
  KeyChange: body(keyChange, ofKey),
  Quotas: body(quotas, {
    max_active_jobs: 'null = the default of the service.',
    max_running: 'null = no limit of its own.',
    max_stored_upload_bytes: 'null = the default of the service.',
  }),
  SpendCap: body(spendCap, {
    spend_cap: 'Per calendar month in UTC, in the currency of the price list, with at most 6 decimals. null = none.',
    spend_webhook_url: 'Notified when 80 % and 100 % of the cap are spent. Without a query: the messages are signed.',
  }),
}
