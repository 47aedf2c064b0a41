// The table of what people bring, a row for each kind.
import type { Row } from './row.ts'
import { BROADCAST_ROWS } from './rows/broadcast.ts'
import { BROWSER_ROWS } from './rows/browsers.ts'
import { DEVICE_ROWS } from './rows/devices.ts'
import { FILE_ROWS } from './rows/files.ts'

export const ROWS: readonly Row[] = [...BROWSER_ROWS, ...DEVICE_ROWS, ...BROADCAST_ROWS, ...FILE_ROWS]
