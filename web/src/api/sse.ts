// In charge of: taking a stream of Server-Sent Events apart (WHATWG HTML, 9.2), whatever its pieces. Pure.
// EventSource itself cannot send the key.

export interface ServerEvent {
  /** "message" where the stream does not say. */
  type: string
  data: string
  /** The last one seen, also from earlier events. */
  id: string
}

/** Returns what takes the next piece of the text and gives the events that are complete with it. */
export function eventReader(): (piece: string) => ServerEvent[] {
  let rest = ''
  let id = ''
  let type = ''
  let data: string[] = []
  return (piece) => {
    const events: ServerEvent[] = []
    rest += piece
    // A carriage return at the very end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push({ type: type || 'message', data: data.join('\n'), id })
        type = ''
        data = []
        continue
      }
      const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
      if (name === 'data') data.push(value)
      else if (name === 'event') type = value
      else if (name === 'id' && !value.includes('\0')) id = value
    }
    return events
  }
}
