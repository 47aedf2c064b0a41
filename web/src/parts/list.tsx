// In charge of: a list in columns; on a phone the cells of a row stand below its name (style/parts.css).
import type { ComponentChildren, RefObject } from 'preact'

interface ListProps {
  /** One for each column. */
  heads: readonly string[]
  children: ComponentChildren
  class?: string
  label?: string
  list?: RefObject<HTMLUListElement | null>
  /** Before the heads. */
  first?: ComponentChildren
}

export function List({ heads, children, class: name = '', label, list, first }: ListProps) {
  return (
    <div class={`listed ${name}`} style={{ '--cells': String(heads.length - 1) }}>
      <div class="heads">
        {first}
        {heads.map((head) => (
          <span key={head} aria-hidden="true">
            {head}
          </span>
        ))}
      </div>
      <ul class="rows" aria-label={label} ref={list ?? null}>
        {children}
      </ul>
    </div>
  )
}
