// In charge of: the controls of one of several sources that are joined: the part that is used, and its place.
// Not in charge of: the sources themselves (source.tsx).
import type { Problem } from '#contract/errors.ts'
import { IconButton } from '../transfers/progress.tsx'
import { Fields } from './field.tsx'
import { withMember, type JobFields } from './model/formBody.ts'
import { infoAt } from './model/schema.ts'

interface PieceProps {
  name: string
  index: number
  count: number
  /** Members of the element of `inputs`. */
  members: JobFields
  problems: readonly Problem[]
  onChange: (members: JobFields) => void
  onMove: (by: -1 | 1) => void
}

const cutFields = ['start_seconds', 'end_seconds'].flatMap((name) => {
  const info = infoAt(`inputs[].${name}`)
  return info ? [{ ...info, description: '' }] : []
})

export function Piece({ name, index, count, members, problems, onChange, onMove }: PieceProps) {
  const path = `inputs[${index}]`
  return (
    <div class="line low grow">
      <Fields
        infos={cutFields}
        at={path}
        members={members}
        problems={problems}
        onChange={(field, value) => onChange(withMember(members, field, value))}
      />
      <div class="line">
        {index > 0 ? <IconButton icon="up" label={`Move ${name} up`} onClick={() => onMove(-1)} /> : null}
        {index < count - 1 ? <IconButton icon="down" label={`Move ${name} down`} onClick={() => onMove(1)} /> : null}
      </div>
    </div>
  )
}
