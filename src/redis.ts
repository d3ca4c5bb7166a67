import { Redis } from 'ioredis'
import { type Log, tellOutage } from './log.ts'

/** Connects to Redis; an outage is logged when it begins and when it ends. */
export function connectRedis(url: string, log: Log): Redis {
  // A Redis that takes commands and answers none counts as one that is down.
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: 2000 })
  const outage = tellOutage(log, 'Redis does not answer; limits are counted in this process meanwhile')
  redis.on('error', outage.begins).on('ready', outage.ends)
  return redis
}
