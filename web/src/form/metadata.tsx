// In charge of: the customer's own metadata names and values of a job.
import type { ComponentChildren, JSX } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { METADATA } from '#contract/limits.ts'
import { IconButton } from '../transfers/progress.tsx'

interface MetadataProps {
  value: unknown
  problems: readonly Problem[]
  onChange: (value: Record<string, string> | undefined) => void
  wrap: (summary: string, children: ComponentChildren) => JSX.Element
}

type Row = readonly [name: string, value: string]

const rowsOf = (value: unknown): Row[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, text]): Row => [name, typeof text === 'string' ? text : ''])
    : []

export function Metadata({ value, problems, onChange, wrap }: MetadataProps) {
  const id = useId()
  // Rows as typed: rows with the same name, or without a name, are not part of the object yet.
  const [rows, setRows] = useState<Row[]>(() => rowsOf(value))
  const change = (next: Row[]): void => {
    setRows(next)
    const named = next.filter(([name]) => name !== '')
    onChange(named.length > 0 ? Object.fromEntries(named) : undefined)
  }
  const found = problems.filter(({ field }) => field === 'metadata' || field.startsWith('metadata.'))
  const summary = rows
    .filter(([name]) => name !== '')
    .map(([name, text]) => `${name}: ${text}`)
    .join(' · ')
  return wrap(
    summary || 'None',
    <>
      <p class="help">Your own names and values. They are returned with the job, and its values can be searched for.</p>
      {rows.map(([name, text], index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a row is its position until it has a name
        <div key={index} class="line" data-path="metadata">
          <label for={`${id}-name-${index}`} class="hidden">
            Name {index + 1}
          </label>
          <input
            id={`${id}-name-${index}`}
            class="grow"
            type="text"
            placeholder="Name"
            autocomplete="off"
            spellcheck={false}
            maxLength={40}
            value={name}
            aria-invalid={found.length > 0}
            onInput={({ currentTarget }) => change(rows.with(index, [currentTarget.value, text]))}
          />
          <label for={`${id}-value-${index}`} class="hidden">
            Value {index + 1}
          </label>
          <input
            id={`${id}-value-${index}`}
            class="grow"
            type="text"
            placeholder="Value"
            autocomplete="off"
            maxLength={METADATA.value_characters}
            value={text}
            onInput={({ currentTarget }) => change(rows.with(index, [name, currentTarget.value]))}
          />
          <IconButton
            icon="close"
            label={`Remove entry ${index + 1}`}
            onClick={() => change(rows.toSpliced(index, 1))}
          />
        </div>
      ))}
      {found.map(({ message }) => (
        <p key={message} class="problem">
          {message}
        </p>
      ))}
      <button
        type="button"
        class="add"
        disabled={rows.length >= METADATA.members}
        onClick={() => change([...rows, ['', '']])}
      >
        Add entry
      </button>
    </>,
  )
}
