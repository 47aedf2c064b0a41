// In charge of: the address of this machine on its route to the service. Other machines reach the transcoder there, and
// no other interface needs an open port.
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../log.ts'

const RETRY_MS = 5_000

/** @throws when the signal aborts. Waits for a name server and a route, which may come after this process at the start of a machine. */
export async function findOwnAddress(serviceUrl: string, log: Log, signal: AbortSignal): Promise<string> {
  const { hostname } = new URL(serviceUrl)
  for (let said = ''; ; await pause(RETRY_MS, undefined, { signal })) {
    try {
      return await addressTowards(hostname.replace(/^\[|\]$/g, ''))
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      if (text !== said) log.warn('no route to the service', { error: text })
      said = text
    }
  }
}

/** UDP: to connect chooses the route and sends nothing. */
async function addressTowards(hostname: string): Promise<string> {
  const { address, family } = await lookup(hostname)
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      // Any port: nothing is sent.
      socket.connect(9, address, resolve)
    })
    return socket.address().address
  } finally {
    socket.close()
  }
}
