// A sample of what people bring, each through the requests that people send. `npm run long everyday` takes the whole table, which
// needs longer than CI has.
import { testRows } from './everyday.ts'
import { WHOLE_TABLE } from './row.ts'
import { ROWS } from './table.ts'

await testRows(ROWS.filter(({ short }) => WHOLE_TABLE || short === true))
