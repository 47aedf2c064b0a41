// In charge of: checking that an answer has exactly the members that the document lists for its operation. For tests
// only: the service does not validate its answers.
// Not in charge of: the schemas (answerSchemas.ts).
import * as z from 'zod'
import { answerShapes, type AnswerName } from './answerSchemas.ts'
import { operations } from './operations.ts'

const table = Object.entries(operations).flatMap(([name, { status, answers }]) => {
  const [method = '', path = ''] = name.split(' ')
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`)
  return [{ method, pattern, status, shape: answers?.shape }]
})

/** The schema of a JSON answer; null if the document has none. */
export function shapeOf(method: string, path: string, status: number): AnswerName | null {
  const found = table.find((one) => one.method === method && one.pattern.test(path))
  if (found === undefined) return null
  if (status >= 400) return 'Error'
  return found.shape ?? null
}

/** The problems of an answer: members that are missing, have another type or are not in the schema. */
export function complaintsOf(shape: AnswerName, answer: unknown): string[] {
  const read = z.safeParse<z.core.$ZodType>(answerShapes[shape], answer)
  if (!read.success) return read.error.issues.map(({ path, message }) => `${shape}.${path.join('.')}: ${message}`)
  return strangers(answer, read.data, shape)
}

/** Members that the schema does not know: parsing removed them from `known`. */
function strangers(answer: unknown, known: unknown, path: string): string[] {
  if (typeof answer !== 'object' || answer === null) return []
  const left = known as Record<string, unknown>
  return Object.entries(answer).flatMap(([name, value]) =>
    Object.hasOwn(left, name) ? strangers(value, left[name], `${path}.${name}`) : [`${path}.${name} is not described`],
  )
}

/** @throws Error with each member of a JSON answer that differs from the document. Other answers pass. */
export async function expectDescribed(method: string, path: string, response: Response): Promise<void> {
  if (!/^application\/json\b/.test(response.headers.get('content-type') ?? '')) return
  const shape = shapeOf(method, path, response.status)
  if (shape === null) return
  const text = await response.clone().text()
  // The answer to HEAD has no body.
  if (text === '') return
  const complaints = complaintsOf(shape, JSON.parse(text))
  if (complaints.length > 0)
    throw new Error(
      `${method} ${path} ${response.status} is not as described:\n${complaints.join('\n')}\n${text.slice(0, 2000)}`,
    )
}
