// In charge of: the parts of a divided job, one cell each, in the order of the outputs.
// Not in charge of: their numbers in words (text/format.ts), which screen readers read instead.
import type { PublicStatus } from '#contract/api/status.ts'

/** The letters of `status.chunks.map`. */
const CELL_CLASSES: Readonly<Record<string, string>> = { r: 'runs', c: 'completed', f: 'failed' }

export function PartMap({ chunks }: Pick<PublicStatus, 'chunks'>) {
  if (chunks == null) return null
  return (
    <div class="part-map" aria-hidden="true">
      {chunks.map.split('').map((letter, part) => (
        <i key={part} class={CELL_CLASSES[letter] ?? ''} />
      ))}
    </div>
  )
}
