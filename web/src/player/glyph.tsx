// In charge of: the icons on the player's buttons.

const PATHS = {
  play: 'M8 5.1v13.8c0 .8.9 1.3 1.5.8l10.6-6.9c.6-.4.6-1.2 0-1.6L9.5 4.3C8.9 3.8 8 4.3 8 5.1z',
  pause: 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z',
  again: 'M12 5V1.5L7 6.5l5 5V7.6a5.4 5.4 0 1 1-5.4 5.4H4A8 8 0 1 0 12 5z',
  volume:
    'M4 9v6h4l5 4.5v-15L8 9zM15.5 8.2v7.6a4.3 4.3 0 0 0 0-7.6zM15.5 3.6v2.2a6.7 6.7 0 0 1 0 12.4v2.2a8.8 8.8 0 0 0 0-16.8z',
  muted:
    'M4 9v6h4l5 4.5v-15L8 9zM21.5 9.6 20 8.1l-2.4 2.4-2.4-2.4-1.5 1.5 2.4 2.4-2.4 2.4 1.5 1.5 2.4-2.4 2.4 2.4 1.5-1.5-2.4-2.4z',
  captions:
    'M5 5h14a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zm5.9 5.9V10c0-.6-.4-1-1-1H7c-.6 0-1 .4-1 1v4c0 .6.4 1 1 1h2.9c.6 0 1-.4 1-1v-.9H9.4v.5H7.5v-3.2h1.9v.5zm7.1 0V10c0-.6-.4-1-1-1h-2.9c-.6 0-1 .4-1 1v4c0 .6.4 1 1 1H17c.6 0 1-.4 1-1v-.9h-1.5v.5h-1.9v-3.2h1.9v.5z',
  settings:
    'M19.4 13a7.6 7.6 0 0 0 0-2l2-1.6-2-3.4-2.4 1a7.4 7.4 0 0 0-1.7-1L15 3.5h-4l-.4 2.5a7.4 7.4 0 0 0-1.7 1l-2.4-1-2 3.4 2 1.6a7.6 7.6 0 0 0 0 2l-2 1.6 2 3.4 2.4-1c.5.4 1.1.7 1.7 1l.4 2.5h4l.3-2.5c.6-.3 1.2-.6 1.7-1l2.4 1 2-3.4zM13 15.2a3.2 3.2 0 1 1 0-6.4 3.2 3.2 0 0 1 0 6.4z',
  pip: 'M3 5h18v14H3zm2 2v10h14V7zm7 4.5h5.5v4H12z',
  enter: 'M4 4h6v2.2H6.2V10H4zm10 0h6v6h-2.2V6.2H14zM4 14h2.2v3.8H10V20H4zm13.8 0H20v6h-6v-2.2h3.8z',
  leave: 'M7.8 4H10v6H4V7.8h3.8zM14 4h2.2v3.8H20V10h-6zM4 14h6v6H7.8v-3.8H4zm10 0h6v2.2h-3.8V20H14z',
  check: 'M9.2 16.4 4.9 12l-1.6 1.6 5.9 6L21 7.8l-1.6-1.6z',
} as const

export type GlyphName = keyof typeof PATHS

export function Glyph({ name }: { name: GlyphName }) {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path d={PATHS[name]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}
