// In charge of: finding the commands of a README by their heading and their first words.
// Not in charge of: running them (newcomer.ts).

export interface CodeBlock {
  /** Nearest heading of the second level before it; '' = before the first. */
  heading: string
  language: string
  text: string
}

export function parseCodeBlocks(page: string): CodeBlock[] {
  const [first, ...rest] = page.split(/^## /m)
  const sections = [['', first!] as const, ...rest.map((part) => [part.split('\n')[0]!, part] as const)]
  return sections.flatMap(([heading, part]) =>
    [...part.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
      heading,
      language: language!,
      text: text!,
    })),
  )
}

/** The only block that starts with this text. @throws Error if there is none, or if there are several */
export function findCodeBlock(page: string, start: string): string {
  const found = parseCodeBlocks(page).filter(({ text }) => text.startsWith(start))
  if (found.length !== 1) throw new Error(`README.md has ${found.length} blocks that begin with: ${start}`)
  return found[0]!.text
}
