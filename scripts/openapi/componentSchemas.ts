// In charge of: the components of the OpenAPI document: all requests, other bodies and answers in one table.
// Not in charge of: the single schemas (requestSchemas.ts, bodySchemas.ts, answerSchemas.ts), operations
// (operations.ts).
import { answerSchemas } from './answerSchemas.ts'
import { bodySchemas } from './bodySchemas.ts'
import type { Schema } from './schemaParts.ts'
import { requestSchemas } from './requestSchemas.ts'

export const schemas: Record<string, Schema> = { ...requestSchemas, ...bodySchemas, ...answerSchemas() }
