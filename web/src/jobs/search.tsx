// In charge of: the filter form of the job list: text, state, time.
import type { ComponentChildren } from 'preact'
import type { Counts } from './list.ts'
import { STATES, TIMES, type Filters } from '../api/jobFilters.ts'

/** The element that the key / leads to (../pages/jobs.tsx). */
export const SEARCH_FIELD = 'search-jobs'

interface SearchProps {
  filters: Filters
  counts: Counts | null
  onChange: (change: Partial<Filters>) => void
  /** Called on Enter in the text field. */
  onSubmit: () => void
}

export function Search({ filters, counts, onChange, onSubmit }: SearchProps) {
  return (
    <form
      class="stack"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div class="line low">
        <Labelled label="Search" isWide>
          <input
            type="search"
            id={SEARCH_FIELD}
            title="Press / to search"
            aria-keyshortcuts="/"
            placeholder="Number, job ID, file, address or metadata"
            maxLength={200}
            defaultValue={filters.search}
            onInput={(event) => onChange({ search: event.currentTarget.value.trim() })}
          />
        </Labelled>
        <Labelled label="Created">
          <select
            value={filters.created}
            onChange={({ currentTarget: { value } }) =>
              onChange({ created: TIMES.find(([each]) => each === value)?.[0] ?? '' })
            }
          >
            {TIMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Labelled>
        {filters.created === 'dates'
          ? (['from', 'to'] as const).map((edge) => (
              <Labelled key={edge} label={edge === 'from' ? 'First day' : 'Last day'}>
                <input
                  type="date"
                  value={filters[edge]}
                  onChange={(event) => onChange({ [edge]: event.currentTarget.value })}
                />
              </Labelled>
            ))
          : null}
      </div>
      <fieldset class="segmented">
        <legend class="hidden">State</legend>
        {STATES.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="state"
              checked={filters.state === value}
              onChange={() => onChange({ state: value })}
            />
            <span>
              {label}
              {value === 'queued' || value === 'running' ? (
                <span class="help figures">{counts?.[value] || null}</span>
              ) : null}
            </span>
          </label>
        ))}
      </fieldset>
    </form>
  )
}

interface LabelledProps {
  label: string
  isWide?: boolean
  children: ComponentChildren
}

function Labelled({ label, isWide, children }: LabelledProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/label-has-associated-control -- its only child is the control
    <label class={isWide === true ? 'stack tight grow' : 'stack tight'}>
      <span>{label}</span>
      {children}
    </label>
  )
}
