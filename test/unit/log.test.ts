import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { localCoordination } from '../../src/coordination/local.ts'
import { connectRedis, redisCoordination } from '../../src/coordination/redis.ts'
import { createLog } from '../../src/runtime/log.ts'
import { createPubSub } from '../../src/services/notices/pub-sub.ts'
import { until } from '../support/until.ts'

/**
 * A minimal Redis for connecting and subscribing: every command gets an empty text, and a
 * subscription gets its confirmation.
 */
function answer(socket: Socket): void {
  socket.on('error', () => {})
  socket.on('data', data => {
    for (const command of data.toString().split(/^(?=\*\d+\r\n)/m)) {
      const channel = /subscribe\r\n(\$\d+\r\n.+\r\n)/i.exec(command)?.[1]
      socket.write(channel ? `*3\r\n$9\r\nsubscribe\r\n${channel}:1\r\n` : '$0\r\n\r\n')
    }
  })
}

describe('the log of a Redis outage', () => {
  it('has one line for its start and one for its end, which does not repeat the error', async () => {
    const lines: { level: number; msg: string }[] = []
    const log = createLog(
      { logLevel: 'info' },
      { write: line => void lines.push(JSON.parse(line)) },
    )
    let tries = 0
    let down = true
    const server = createServer(socket => {
      tries++
      if (down) socket.destroy()
      else answer(socket)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const redis = await connectRedis(
      `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
      log,
    )
    const coordination = redisCoordination(redis, localCoordination(), log)
    createPubSub(coordination)
    try {
      await until(() => tries >= 6)
      const begun = lines.map(line => line.msg)
      expect(begun.sort()).toEqual([
        'Redis does not answer; events of other instances are missed',
        'Redis does not answer; limits are counted in this instance meanwhile',
      ])
      expect(lines.map(line => line.level)).toEqual([40, 40])
      down = false
      await until(() => lines.length >= 4)
      const ended = lines.slice(2)
      expect(ended.map(line => line.level)).toEqual([30, 30])
      for (const { msg } of ended) {
        expect(msg).not.toMatch(/does not answer|missed|meanwhile/)
        expect(msg).toMatch(/again/)
      }
    } finally {
      coordination.close()
      server.close()
    }
    expect(lines).toHaveLength(4)
  })
})
