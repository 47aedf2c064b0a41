// In charge of: EBU STL files for tests, as EBU Tech 3264 describes them.

export interface StlSubtitle {
  /** hh:mm:ss:ff */
  first: string
  last: string
  text: number[]
  row?: number
  justification?: number
  comment?: boolean
}

export interface StlOptions {
  format?: string
  table?: string
  programmeStart?: string
  teletext?: boolean
}

const time = (text: string): number[] => text.split(':').map(Number)
/** Latin-1 as bytes, `\n` as the new line of STL. */
export const stlText = (text: string): number[] =>
  Array.from(text, (sign) => (sign === '\n' ? 0x8a : sign.charCodeAt(0)))

export function stlFile(subtitles: readonly StlSubtitle[], options: StlOptions = {}): Buffer {
  const { format = 'STL25.01', table = '00', programmeStart = '00:00:00:00', teletext = true } = options
  const header = Buffer.alloc(1024, 0x20)
  header.write('850', 0)
  header.write(format, 3)
  header.write(teletext ? '1' : '0', 11)
  header.write(table, 12)
  header.write('23', 253)
  header.write('1', 255)
  header.write(programmeStart.replaceAll(':', ''), 256)
  return Buffer.concat([header, ...subtitles.flatMap((subtitle, number) => blocksOf(subtitle, number))])
}

function blocksOf({ first, last, text, row = 20, justification = 2, comment = false }: StlSubtitle, number: number) {
  const count = Math.max(1, Math.ceil(text.length / 112))
  return Array.from({ length: count }, (_, index) => {
    const block = Buffer.alloc(128, 0x8f)
    const fields = [0, number & 255, number >> 8, index === count - 1 ? 0xff : index, 0]
    block.set([...fields, ...time(first), ...time(last), row, justification, comment ? 1 : 0])
    block.set(text.slice(index * 112, (index + 1) * 112), 16)
    return block
  })
}
