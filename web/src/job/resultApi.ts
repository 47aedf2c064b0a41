// In charge of: requests about the results of one job: its shares, its log, its webhook deliveries.
// Not in charge of: the job itself (../api/api.ts).
import type { Delivery, DeliveryList, JobLog, Share, ShareList } from '#contract/api/answers.ts'
import { request } from '../api/api.ts'

const at = (id: number, path: string): string => `/api/v0/job/${id}/${path}`

export const listShares = async (id: number): Promise<Share[]> => (await request<ShareList>(at(id, 'share'))).shares

interface NewShare {
  title?: string
  expires_in_seconds?: number
  password?: string
}

export const createShare = (id: number, wish: NewShare): Promise<Share> =>
  request(at(id, 'share'), { method: 'POST', body: wish })

export const revokeShare = (id: number, share: string): Promise<void> =>
  request(at(id, `share/${encodeURIComponent(share)}`), { method: 'DELETE' })

/** `part`: a position in `status.chunks.map`; null = the job's main task. */
export const readLog = (id: number, part: number | null): Promise<JobLog> =>
  request(at(id, part === null ? 'log' : `log?part=${part}`))

export const listDeliveries = async (id: number): Promise<Delivery[]> =>
  (await request<DeliveryList>(at(id, 'webhooks'))).deliveries

export const replayDelivery = (id: number, delivery: string): Promise<Delivery> =>
  request(at(id, `webhooks/${encodeURIComponent(delivery)}/replay`), { method: 'POST' })
