// In charge of: parsing a stream of Server-Sent Events (WHATWG HTML, 9.2), however it is split into chunks. Pure.
// EventSource itself cannot send the key.

export interface ServerEvent {
  /** "message" if the stream names no type. */
  type: string
  data: string
  /** The last id received, possibly with an earlier event. */
  id: string
}

/** Returns a parser that takes the next chunk of text and returns the events that it completes. */
export function eventReader(): (piece: string) => ServerEvent[] {
  let rest = ''
  let id = ''
  let type = ''
  let data: string[] = []
  return (piece) => {
    const events: ServerEvent[] = []
    rest += piece
    // A carriage return at the very end may be the first half of a line break.
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
