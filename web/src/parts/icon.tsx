// In charge of: the icons next to texts. They add no information to the text.

/** SVG paths in a square of 24. */
const PATHS = {
  plus: 'M12 5v14M5 12h14',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l4 4',
  film: 'M4 5h16v14H4zM8 5v14M16 5v14M4 10h4M4 14h4M16 10h4M16 14h4',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  download: 'M12 4v12M7 11l5 5 5-5M4 16v4h16v-4',
  play: 'M8 5l11 7-11 7z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5L19 7',
  retry: 'M20 5v5h-5M19.5 10A8 8 0 1 0 20 14',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  stop: 'M6 6h12v12H6z',
  pause: 'M8 5v14M16 5v14',
  close: 'M6 6l12 12M18 6L6 18',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c1-5 4-7 8-7s7 2 8 7',
  down: 'M5 9l7 7 7-7',
  up: 'M5 15l7-7 7 7',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
  key: 'M8 10a4 4 0 1 0 0 8 4 4 0 0 0 0-8M11 11l8-8M15 7l3 3',
  share: 'M12 15V3M8 7l4-4 4 4M6 11H4v10h16V11h-2',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
  audio: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 11v2',
  preset: 'M4 7h9M17 7h3M13 5v4M4 17h3M11 17h9M7 15v4',
  send: 'M4 12l16-8-5 16-4-6zM11 14l9-10',
  machine: 'M4 5h16v6H4zM4 13h16v6H4zM7 8h1M7 16h1',
  chart: 'M5 20v-6M12 20V5M19 20v-9',
  people:
    'M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M2.5 20c.6-4 3-6 6.500-6s5.900 2 6.500 6M16 5.500a3 3 0 0 1 0 6M18.500 14.500c2 .8 2.800 2.800 3 5.500',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
