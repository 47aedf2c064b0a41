// In charge of: a list of names and values.

/** Several values are shown one below the other. */
export type Definition = readonly [name: string, value: string | readonly string[]]

export function DefinitionList({ facts }: { facts: readonly Definition[] }) {
  return (
    <dl class="stack facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          {[value].flat().map((each) => (
            <dd key={each}>{each}</dd>
          ))}
        </div>
      ))}
    </dl>
  )
}
