// In charge of: an asynchronous map with limited concurrency.

/**
 * Results in the order of `items`. After the first error no further item is started. The running ones are awaited, so
 * that nothing is still being written when the caller rolls back; then the first error is thrown.
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  bound: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (failures.length === 0) {
      const index = next++
      const item = items[index]
      if (index >= items.length || item === undefined) return
      try {
        results[index] = await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(bound, items.length) }, lane))
  if (failures.length > 0) throw failures[0]
  return results
}
