// A sample of what people bring; everyday.long.test.ts takes all of it.
import { testRows } from './everyday.ts'
import { ROWS } from './table.ts'

await testRows(ROWS.filter(({ short }) => short))
