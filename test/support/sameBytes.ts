// In charge of: comparing long byte strings; toEqual takes seconds for one of 20 MB.
import { expect } from 'vitest'

/** Fails with both lengths and the offset of the first difference; a text in place of bytes is an error's name. */
export function expectSameBytes(found: Uint8Array | string, wanted: Uint8Array, message?: string): void {
  if (typeof found === 'string') throw new Error(`${message ?? 'no bytes'}: ${found}`)
  if (Buffer.compare(found, wanted) === 0) return
  const differs = found.findIndex((value, at) => value !== wanted[at])
  expect({ length: found.length, differs }, message).toEqual({ length: wanted.length, differs: -1 })
  throw new Error(`${found.length} bytes are the beginning of ${wanted.length}`)
}
