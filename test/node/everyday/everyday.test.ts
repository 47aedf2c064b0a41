// A sample of what people bring, each through the requests that people send. `npm run long everyday` takes the whole table, which
// needs longer than CI has.
import { testRows } from './everyday.ts'
import { ROWS } from './table.ts'

const isWhole = process.env['EVERYDAY'] === '1'
await testRows(ROWS.filter(({ short }) => isWhole || short === true))
