// In charge of: the list of all operations, in the order of the reference.
// Not in charge of: their parameters, bodies and answers (operations/), the document (openapiDocument.ts).
import { serviceOperations } from './operations/serviceOperations.ts'
import { uploadOperations } from './operations/uploadOperations.ts'
import { jobOperations } from './operations/jobOperations.ts'
import { shareOperations } from './operations/shareOperations.ts'
import { outputOperations } from './operations/outputOperations.ts'
import { presetOperations } from './operations/presetOperations.ts'
import { usageOperations } from './operations/usageOperations.ts'
import { administrationOperations } from './operations/administrationOperations.ts'
import type { Operation, OperationTable } from './operations/operation.ts'

const table: OperationTable = {
  ...serviceOperations,
  ...uploadOperations,
  ...jobOperations,
  ...shareOperations,
  ...outputOperations,
  ...presetOperations,
  ...usageOperations,
  ...administrationOperations,
}

export const operations: Record<string, Operation> = Object.fromEntries(
  Object.entries(table).map(([name, one]) => [name, { status: 200, errors: [], ...one }]),
)
