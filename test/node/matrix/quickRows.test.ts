// The quick rows of the support matrix, and a sample of them in the short form; `npm run long matrix` measures all rows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GROUPS } from '../../matrix/groups.ts'
import { sampled } from '../../support/longForm.ts'
import { openMatrixRunner, type MatrixRunner } from '../../matrix/runner.ts'
import { showValue } from '../../matrix/parameterValues.ts'

let runner: MatrixRunner
beforeAll(async () => {
  runner = await openMatrixRunner()
})
afterAll(() => runner[Symbol.asyncDispose]())

const rows = Object.values(GROUPS)
  .flat()
  .filter((row) => row.quick === true)

test.each(sampled(rows, 48).map((row) => [row.path, showValue(row.value), row.expected, row] as const))(
  '%s %s: %s',
  async (_path, _value, _expected, row) => {
    const { measured, ok } = await runner.run(row)
    expect(ok, measured).toBe(true)
  },
)
