// In charge of: the names of answer schemas in the OpenAPI document, and their JSON Schema.
// Not in charge of: the zod schemas (contract), request schemas (requestSchemas.ts), operations (operations.ts).
import { RETENTION_DAYS } from '#contract/limits.ts'
import * as z from 'zod'
import * as administration from '#contract/api/administration.ts'
import * as answers from '#contract/api/answers.ts'
import { diagnosis } from '#contract/api/diagnosis.ts'
import * as errors from '#contract/errors.ts'
import { estimate, fileReport, range, sourceReport } from '#contract/task/dryRunEstimate.ts'
import { publishedLimits } from '#contract/api/publishedLimits.ts'
import { mediaFacts } from '#contract/task/mediaFacts.ts'
import { jobStatus, poster, publicOutput } from '#contract/api/status.ts'
import * as usages from '#contract/api/usage.ts'
import { MAX_AMOUNT } from '#contract/task/reportSchemas.ts'
import { warningCode } from '#contract/warningCodes.ts'
import { foldNull, schemaRef, type Schema } from './schemaParts.ts'

/**
 * null means a number that is not set. A member that is absent in some of the values is optional. An empty list is a
 * list of numbers, like all lists of plain values here.
 */
function like(...values: unknown[]): z.ZodType {
  const [value] = values
  if (values.every(Array.isArray)) {
    const items = values.flat() as unknown[]
    return z.array(items.length > 0 ? like(...items) : z.number())
  }
  if (value === null) return z.number().nullable()
  if (typeof value === 'string') return z.string()
  if (typeof value === 'boolean') return z.boolean()
  if (typeof value !== 'object') return z.number()
  const objects = values as Record<string, unknown>[]
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  return z.object(
    Object.fromEntries(
      names.map((name) => {
        const made = like(...objects.flatMap((one) => (name in one ? [one[name]] : [])))
        return [name, objects.every((one) => name in one) ? made : made.exactOptional()]
      }),
    ),
  )
}

export const answerShapes = {
  Error: errors.errorAnswer,
  Problem: errors.problem,
  Warning: errors.warning,
  StatusError: errors.statusError,
  Output: publicOutput,
  MediaFacts: mediaFacts,
  Source: sourceReport,
  Poster: poster,
  Estimate: estimate,
  EstimatedOutput: fileReport,
  EstimatedRange: range,
  Status: jobStatus,
  Created: answers.created,
  JobRead: answers.jobRead,
  JobLog: answers.jobLog,
  ListedJob: answers.listedJob,
  JobList: answers.jobList,
  Share: answers.share,
  ShareList: answers.shareList,
  SharedMedia: answers.sharedMedia,
  Preset: answers.preset,
  PresetList: answers.presetList,
  Upload: answers.upload,
  UploadToken: answers.uploadToken,
  ListedUpload: answers.listedUpload,
  UploadList: answers.uploadList,
  Events: answers.eventList,
  Event: answers.publicEvent,
  Delivery: answers.delivery,
  DeliveryList: answers.deliveryList,
  WebhookSecret: administration.webhookSecret,
  NewWebhookSecret: administration.newWebhookSecret,
  Account: administration.account,
  AccountList: administration.accountList,
  UsageLine: usages.usageLine,
  AccountUsage: usages.accountUsage,
  Usage: usages.usage,
  UsageOfAccounts: usages.usageOfAccounts,
  TranscoderList: administration.transcoderList,
  VaultRotation: administration.vaultRotation,
  Limits: like(
    publishedLimits({
      maxActiveJobs: 1,
      maxStoredUploadBytes: null,
      maxSourceSeconds: null,
      requestsPerMinute: null,
      retentionDays: RETENTION_DAYS,
    }),
  ),
  Key: administration.key,
  IssuedKey: administration.issuedKey,
  ReplacedKey: administration.replacedKey,
  KeyList: administration.keyList,
  Diagnosis: diagnosis,
  Health: administration.health,
} as const satisfies Record<string, z.core.$ZodType>

export type AnswerName = keyof typeof answerShapes

/** Schemas without a JSON Schema in zod, or described in another part of the document. */
const inDocument = new Map<z.core.$ZodType, Schema>([
  [answers.jobConfig, { type: 'object' }],
  [answers.presetJob, schemaRef('PresetJob')],
  [warningCode, { type: 'string' }],
])

/** @param given JSON Schemas that replace those of zod */
export function answerSchemas(given: ReadonlyMap<z.core.$ZodType, Schema> = inDocument): Record<string, Schema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, shape] of Object.entries(answerShapes)) registry.add(shape, { id })
  const { schemas } = z.toJSONSchema(registry, {
    // Answers may get further members later, which "output" would forbid.
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => String(schemaRef(id)['$ref']),
    override({ zodSchema, jsonSchema }) {
      // A description makes a copy; its parent is the original schema.
      const instead = given.get(zodSchema) ?? given.get(zodSchema._zod.parent as z.core.$ZodType)
      if (instead === undefined) tidy(jsonSchema)
      else replace(jsonSchema, instead)
    },
  })
  for (const schema of Object.values(schemas)) {
    delete schema.$schema
    delete schema.$id
  }
  return schemas
}

function replace(schema: Schema, instead: Schema): void {
  for (const name of Object.keys(schema)) if (name !== 'description') delete schema[name]
  Object.assign(schema, instead)
}

/** Removes what is not useful for clients, or not supported by client generators. */
function tidy(schema: Schema): void {
  if (schema['format'] === 'date-time') delete schema['pattern']
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum']
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum']
  if ('const' in schema) {
    schema['enum'] = [schema['const']]
    delete schema['const']
  }
  // Limits for messages of a transcoder; no guarantee for clients.
  for (const name of ['readOnly', 'maxLength', 'maxItems']) delete schema[name]
  if (schema['maximum'] === MAX_AMOUNT) delete schema['maximum']
  if (isOnly(schema['propertyNames'], 'string')) delete schema['propertyNames']
  if (isOnly(schema['additionalProperties'])) delete schema['additionalProperties']
  foldNull(schema)
}

function isOnly(schema: unknown, type?: string): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const members = Object.entries(schema)
  return type === undefined ? members.length === 0 : members.length === 1 && (schema as Schema)['type'] === type
}
