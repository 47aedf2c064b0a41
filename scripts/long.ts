// In charge of: `npm run long NAME [ARGUMENT …]`: the programs and the groups of tests that take too long for `npm test`.
// Without a name it lists them.
// Not in charge of: what there is (long/programs.ts, test/support/longGroups.ts).
import { LONG_GROUPS } from '../test/support/longGroups.ts'
import { LONG_PROGRAMS, type LongProgram } from './long/programs.ts'
import { passTo } from './passTo.ts'

const groups = Object.keys(LONG_GROUPS)

function listing(): string {
  const width = Math.max(...Object.keys(LONG_PROGRAMS).map(({ length }) => length))
  const programs = Object.entries(LONG_PROGRAMS).map(
    ([name, { description }]) => `  ${name.padEnd(width)}  ${description}`,
  )
  return [
    'Usage: npm run long NAME [-- OPTION …]',
    '\nPrograms:',
    ...programs,
    '\nGroups of long tests (several may be named; all = every one):',
    `  ${groups.join(', ')}\n`,
  ].join('\n')
}

function commandOf(name: string, args: readonly string[]): LongProgram | null {
  const program = LONG_PROGRAMS[name]
  if (program) return { ...program, run: [...program.run, ...args] }
  const isGroup = (one: string): boolean => one === 'all' || groups.includes(one)
  if (![name, ...args].every(isGroup)) return null
  return { description: '', run: ['scripts/test.ts', '--long', name, ...args] }
}

const [name, ...args] = process.argv.slice(2)
const chosen = name === undefined ? null : commandOf(name, args)
if (chosen === null) {
  ;(name === undefined ? process.stdout : process.stderr).write(listing())
  process.exitCode = name === undefined ? 0 : 2
} else passTo(chosen.run, chosen.env)
