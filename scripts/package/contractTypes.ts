// In charge of: writing the contract's schema types as TypeScript declarations for the package.
// Not in charge of: the request (client/jobRequest.ts), types that are interfaces already.
import { PROVIDERS } from '#contract/job/stores/registry.ts'
import * as z from 'zod/mini'
import { jobConfig, presetJob } from '#contract/api/answers.ts'
import { jobError } from '#contract/errors.ts'
import { objectOf } from '#contract/job/fields/field.ts'
import { REQUEST_OBJECTS } from '#contract/job/fields/request.ts'
import { WARNING_CODES, warningCode } from '#contract/warningCodes.ts'
import { answerSchemas } from '../openapi/answerSchemas.ts'
import { schemaRef, type Schema } from '../openapi/schemaParts.ts'
import { typeDeclaration } from './schemaTypes.ts'

const outputOf = (schema: z.core.$ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema

/** Types whose names are shorter in the OpenAPI document. */
const inTypeScript: Readonly<Record<string, string>> = {
  EstimatedOutput: 'PlannedFile',
  EstimatedRange: 'EstimateRange',
  Event: 'PublicEvent',
  Events: 'EventList',
  Output: 'PublicOutput',
  Source: 'SourceReport',
  Status: 'PublicStatus',
}
const typeOf = (name: string): string => inTypeScript[name] ?? name
const typeAt = (address: string): string => typeOf(address.split('/').at(-1) ?? address)

/** Types that JSON Schema cannot express completely. */
const named = new Map<z.core.$ZodType, Schema>([
  [jobConfig, schemaRef('JobConfig')],
  [presetJob, { type: 'object' }],
  [warningCode, schemaRef('WarningCode')],
])

const unionOf = (name: string, values: readonly string[]): string =>
  `type ${name} = ${values.map((each) => `'${each}'`).join(' | ')};`

/** Declarations by name, without `export`. */
export function contractTypes(): Map<string, string> {
  const write = (name: string, schema: Schema): [string, string] => [
    name,
    typeDeclaration(name, schema, typeAt).replace('export ', '').trimEnd(),
  ]
  return new Map([
    ...REQUEST_OBJECTS.flatMap(({ component, fields }) =>
      component === undefined ? [] : [write(`${component}Fields`, outputOf(objectOf(fields)))],
    ),
    ...Object.entries(answerSchemas(named)).map(([name, schema]) => write(typeOf(name), schema)),
    // Of webhooks, which are no answers.
    write('JobError', outputOf(jobError)),
    ['Provider', unionOf('Provider', PROVIDERS)],
    ['WarningCode', unionOf('WarningCode', WARNING_CODES)],
  ])
}
