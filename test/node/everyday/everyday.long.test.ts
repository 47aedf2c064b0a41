// All that people bring, beside the sample of everyday.test.ts.
import { testRows } from './everyday.ts'
import { ROWS } from './table.ts'

await testRows(ROWS.filter(({ short }) => short !== true))
