// In charge of: the filters of the job list: as form values, as an address that can be saved or shared, and as a query.
// Pure.
import { STATE_LABELS, type ShownState } from '#contract/api/shownStates.ts'
import type { ListQuery } from './api.ts'

export const STATES = [['', 'All'], ...(Object.entries(STATE_LABELS) as [ShownState, string][])] as const

export const TIMES = [
  ['', 'Any time'],
  ['hour', 'Last hour'],
  ['day', 'Last 24 hours'],
  ['week', 'Last 7 days'],
  ['month', 'Last 30 days'],
  ['dates', 'Date range'],
] as const

const SECONDS: Readonly<Record<string, number>> = { hour: 3600, day: 86_400, week: 604_800, month: 2_592_000 }

export interface Filters {
  search: string
  state: (typeof STATES)[number][0]
  created: (typeof TIMES)[number][0]
  /** Local calendar days, for "dates" only. Empty = open. */
  from: string
  to: string
  /** "name:value"; empty = any. */
  metadata: string
}

export const ALL: Filters = { search: '', state: '', created: '', from: '', to: '', metadata: '' }

/** Missing and invalid parameters of an address do not filter. */
export function filtersOf(params: URLSearchParams): Filters {
  const text = (name: string): string => params.get(name) ?? ''
  const day = (name: string): string => (dayOf(text(name)) === null ? '' : text(name))
  const [from, to] = [day('from'), day('to')]
  const named = TIMES.find(([value]) => value === text('created'))?.[0] ?? ''
  return {
    search: text('search').trim().slice(0, 200),
    state: STATES.find(([value]) => value === text('state'))?.[0] ?? '',
    created: from || to ? 'dates' : named,
    from,
    to,
    metadata: text('metadata').includes(':') ? text('metadata').slice(0, 541) : '',
  }
}

export function addressOf({ search, state, created, from, to, metadata }: Filters): string {
  const dates = created === 'dates' ? { from, to } : {}
  const said = { search, state, created: created === 'dates' && (from || to) ? '' : created, ...dates, metadata }
  const params = new URLSearchParams(Object.entries(said).filter(([, value]) => value !== ''))
  return params.size === 0 ? '/' : `/?${params}`
}

export const isFiltered = (filters: Filters): boolean => Object.keys(queryOf(filters, 0)).length > 0

/** Local midnight at the start of a day; null if the text is no date. */
function dayOf(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return null
  const day = new Date(`${text}T00:00`)
  return Number.isNaN(day.getTime()) ? null : day
}

/** `now` in milliseconds since 1970. */
export function queryOf({ search, state, created, from, to, metadata }: Filters, now: number): ListQuery {
  const seconds = SECONDS[created]
  const [first, last] = created === 'dates' ? [dayOf(from), dayOf(to)] : [null, null]
  // The last day is included: up to the midnight that ends it.
  last?.setDate(last.getDate() + 1)
  return {
    ...(search === '' ? {} : { search }),
    ...(state === '' ? {} : { state }),
    ...(metadata === '' ? {} : { metadata }),
    ...(seconds === undefined ? {} : { createdFrom: new Date(now - seconds * 1000).toISOString() }),
    ...(first ? { createdFrom: first.toISOString() } : {}),
    ...(last ? { createdTo: last.toISOString() } : {}),
  }
}
