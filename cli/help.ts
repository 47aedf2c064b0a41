// In charge of: the help, from the table of commands.
import { commands, common, type Command, type CommandName, type Option } from './commands.ts'

const column = (rows: [string, string][]): string => {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

function options(table: Readonly<Record<string, Option>>): string {
  return column(
    Object.entries(table).map(([name, { short, value, about, values }]) => [
      `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
      values ? `${about} (${values.join(', ')})` : about,
    ]),
  )
}

export function help(): string {
  const rows = Object.entries(commands).map(([name, { takes, about }]): [string, string] => [
    `${name} ${takes}`.trim(),
    about,
  ])
  return `Usage: splicepoint COMMAND [OPTIONS]

${column(rows)}

Every command takes:
${options(common)}

Exit codes: 0 done, 1 the job failed or was cancelled, 2 wrong usage, 3 refused by the service, 4 network, 130 interrupted.
"splicepoint COMMAND --help" says more; docs/cli.md has examples.
`
}

export function helpOf(name: CommandName): string {
  const command: Command = commands[name]
  const own = Object.keys(command.options).length > 0 ? `\n${options(command.options)}\n` : ''
  return `Usage: splicepoint ${`${name} ${command.takes}`.trim()} [OPTIONS]

${command.about}
${own}
${options(common)}
`
}
