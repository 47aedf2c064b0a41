// In charge of: what a command brings back: the same for programs and for people.

export interface CommandResult {
  /** What the service answered, or what was made of it: printed with --json. */
  document: unknown
  text: string
  /** Of a list: the cursor of its next page. */
  next?: string | null
}
