// In charge of: the help text, from the table of commands, within the width of the terminal.
import { commandTable, commonOptions, type CommandSpec, type CommandName, type CommandOption } from './commandTable.ts'
import { wrap } from './text/terminal.ts'

const WIDTH = 80
/** Width of the left column. A longer entry has its description on the next line. */
const LEFT = 28

function column(rows: readonly (readonly [left: string, right: string])[], width: number): string {
  const left = Math.min(LEFT, Math.max(...rows.map(([each]) => each.length)))
  const indent = ' '.repeat(left + 4)
  return rows
    .map(([name, description]) => {
      const text = wrap(description, width - indent.length, indent)
      return name.length > left ? `  ${name}\n${indent}${text}` : `  ${name.padEnd(left)}  ${text}`
    })
    .join('\n')
}

function options(table: Readonly<Record<string, CommandOption>>, width: number): string {
  const rows = Object.entries(table).map(([name, { short, value, description, values }]): [string, string] => [
    `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    values ? `${description} (${values.join(', ')})` : description,
  ])
  return column(rows, width)
}

export function help(columns: number | null): string {
  const width = columns ?? WIDTH
  const rows = Object.entries(commandTable).map(([name, { usage, description }]): [string, string] => [
    `${name} ${usage}`.trim(),
    description,
  ])
  const codes =
    'Exit codes: 0 done, 1 the job failed or was cancelled, 2 wrong usage, 3 refused by the service, 4 network, 130 interrupted.'
  return `Usage: splicepoint COMMAND [OPTIONS]

${column(rows, width)}

Options of every command, before or after it:
${options(commonOptions, width)}

Examples:
  splicepoint submit film.mp4 --hls --share
  splicepoint submit film.mp4 -r 720 -r 360 --download out
  splicepoint submit film.mp4 --hls --dry-run

${wrap(codes, width)}
"splicepoint COMMAND --help" lists the options of one command.
`
}

export function helpOf(name: CommandName, columns: number | null): string {
  const width = columns ?? WIDTH
  const command: CommandSpec = commandTable[name]
  const own = Object.keys(command.options).length > 0 ? `\n${options(command.options, width)}\n` : ''
  return `Usage: splicepoint ${`${name} ${command.usage}`.trim()} [OPTIONS]

${wrap(`${command.description.charAt(0).toUpperCase()}${command.description.slice(1)}.`, width)}
${own}
${options(commonOptions, width)}
`
}
