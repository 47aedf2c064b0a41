// In charge of: the placeholder of a page until its content is loaded.

export function Loading({ label, lines = 2 }: { label: string; lines?: number }) {
  return (
    <div class="skeleton stack" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, line) => (
        // oxlint-disable-next-line react/no-array-index-key -- they are all alike
        <div key={line} />
      ))}
    </div>
  )
}
