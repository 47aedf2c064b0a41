// In charge of: the result of a command, for programs and for people.

export interface CommandResult {
  /** The service's answer, or a document made from it. Printed with --json. */
  document: unknown
  text: string
  /** For a list: the cursor of the next page. */
  next?: string | null
}
