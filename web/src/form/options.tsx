// In charge of: the fields of a job that have no place of their own, in their groups.
import type { Problem } from '#contract/errors.ts'
import { problemAt, type Body } from './body.ts'
import { Fields } from './field.tsx'
import { groups } from './groups.ts'
import { jobInfos } from './schema.ts'

interface OptionsProps {
  body: Body
  problems: readonly Problem[]
  onChange: (name: string, value: unknown) => void
}

export function Options({ body, problems, onChange }: OptionsProps) {
  return (
    <>
      {groups.map((group) => {
        const infos = group.fields.flatMap((name) => jobInfos.get(name) ?? [])
        if (infos.length === 0) return null
        const given = infos.filter(({ name }) => body[name] !== undefined)
        const wrong = infos.some(({ name }) => problemAt(problems, name))
        return (
          <details key={group.id} class="group" open={wrong || undefined}>
            <summary>
              {group.title}{' '}
              <span class="help">
                {given.length > 0
                  ? given.map(({ name, label }) => `${label}: ${shown(body[name])}`).join(' · ')
                  : infos.map(({ label }) => label).join(', ')}
              </span>
            </summary>
            <Fields infos={infos} members={body} problems={problems} onChange={onChange} />
          </details>
        )
      })}
    </>
  )
}

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '…'
}
