// In charge of: the placeholder of an empty list: why it is empty, and what to do.
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children}
    </div>
  )
}
