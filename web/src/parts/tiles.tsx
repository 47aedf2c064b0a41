// In charge of: a row of figures, each with its name.

export type Tile = readonly [name: string, value: string]

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl class="tiles">
      {tiles.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
