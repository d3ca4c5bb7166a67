import type { Redis } from 'ioredis'
import { type Log, outageLog } from './log.ts'

/** Connects to Redis, whose driver is loaded here; an outage is logged when it begins and when it ends. */
export async function connectRedis(url: string, log: Log): Promise<Redis> {
  const { Redis } = await import('ioredis')
  // A Redis that accepts commands and never answers counts as down.
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 2000 })
  const outage = outageLog(log, {
    down: 'Redis does not answer; limits are counted in this process meanwhile',
    up: 'connected to Redis again; limits are shared by all instances',
  })
  redis.on('error', outage.begins).on('ready', outage.ends)
  return redis
}
