// In charge of: completion scripts for three shells, from the table of commands.
import { commandTable, commonOptions, type CommandSpec } from './commandTable.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export function completion(shell: (typeof SHELLS)[number]): string {
  switch (shell) {
    case 'bash':
      return bash('')
    case 'zsh':
      // zsh can run bash's completion functions after loading compinit and bashcompinit.
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash('setopt local_options sh_word_split\n  ')}`
    case 'fish':
      return fish()
  }
}

const table = (): [string, CommandSpec][] => Object.entries(commandTable)

function bash(first: string): string {
  const all = [...table().map(([name]) => name), 'help'].join(' ')
  const cases = table().map(([name, { options, subcommands }]) => {
    const flags = [...Object.keys(options), ...Object.keys(commonOptions)].map((flag) => `--${flag}`)
    return `    ${name}) words='${[...(subcommands ?? []), ...flags].join(' ')}' ;;`
  })
  const values = table().flatMap(([name, { options }]) =>
    Object.entries(options).flatMap(([flag, option]) =>
      option.values ? [`    '${name} --${flag}') words='${option.values.join(' ')}' ;;`] : [],
    ),
  )
  return `_splicepoint() {
  ${first}local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${all} " in *" $word "*) command="$word"; break ;; esac
  done
  if [ -z "$command" ]; then
    words='${all}'
    case "$current" in -*) words='${Object.keys(commonOptions)
      .map((flag) => `--${flag}`)
      .join(' ')}' ;; esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$command" in
${cases.join('\n')}
  esac
  case "$command $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _splicepoint splicepoint
`
}

function fish(): string {
  const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`
  const lines = table().flatMap(([name, { description, options, subcommands }]) => {
    const here = `complete -c splicepoint -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c splicepoint -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`,
      ...(subcommands ? [`${here} -f -a '${subcommands.join(' ')}'`] : []),
      ...Object.entries({ ...options, ...commonOptions }).map(
        ([flag, option]) =>
          `${here} -l ${flag}${option.short === undefined ? '' : ` -s ${option.short}`}` +
          `${option.type === 'string' ? ' -r' : ''}${option.values ? ` -a '${option.values.join(' ')}'` : ''} -d ${quote(option.description)}`,
      ),
    ]
  })
  return `${lines.join('\n')}\n`
}
