// In charge of: the types of the contract that the validating library computes, written out for the package.
// Not in charge of: the request (client/jobRequest.ts), everything that is an interface already.
import * as z from 'zod/mini'
import { publicEvent } from '#contract/api/events.ts'
import { audioProfile, credential, jobFields, PROVIDERS, videoProfile } from '#contract/job/requestSchema.ts'
import { declarationOf } from './schemaTypes.ts'
import type { Schema } from '../openapi/schemaParts.ts'

const outputOf = (schema: z.core.$ZodType): Schema =>
  z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema

const interfaces: Readonly<Record<string, z.core.$ZodType>> = {
  JobFields: jobFields,
  VideoProfileFields: videoProfile,
  AudioProfileFields: audioProfile,
  CredentialFields: credential,
  PublicEvent: publicEvent,
}

export function writtenOut(): Map<string, string> {
  const made = Object.entries(interfaces).map(([name, schema]): [string, string] => [
    name,
    declarationOf(name, outputOf(schema)).replace('export ', '').trimEnd(),
  ])
  return new Map([...made, ['Provider', `type Provider = ${PROVIDERS.map((each) => `'${each}'`).join(' | ')};`]])
}
