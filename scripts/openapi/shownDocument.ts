// In charge of: the parts of the OpenAPI document that the pages of the reference show, and their order.
// Not in charge of: the pages (referencePage.ts, referenceMarkdown.ts), the document (openapiDocument.ts).
import type { Schema } from './schemaParts.ts'

interface Media {
  schema: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

export interface ShownOperation {
  operationId: string
  summary: string
  tags: string[]
  description: string
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[]
  security: unknown[]
  requestBody?: { required: boolean; content: Record<string, Media> }
  responses: Record<string, { description: string; content?: Record<string, Media> }>
  'x-codeSamples': { source: string }[]
}

export interface ShownDocument {
  info: { title: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, ShownOperation>>
  components: { schemas: Record<string, Schema> }
}

export interface Shown {
  method: string
  path: string
  one: ShownOperation
}

/** The operations of each resource. */
export function groupsOf({ tags, paths }: ShownDocument): { name: string; description: string; list: Shown[] }[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ method, path, one })),
  )
  return tags.map((tag) => ({ ...tag, list: operations.filter(({ one }) => one.tags[0] === tag.name) }))
}
