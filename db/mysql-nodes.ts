import type { Socket } from 'node:net'
import type { Connection, ConnectionOptions } from 'mysql2'
import type { DatabaseTls } from '../src/config/database-tls.ts'
import { isUnprepared } from './galera.ts'
import { watchErrors } from './mysql-errors.ts'
import { connectByTls } from './mysql-tls.ts'

/** Milliseconds between two checks of failed nodes. */
const LOOK = 2000

/** A server that a URL names. */
export interface Node {
  host: string
  port: number
}

/**
 * With the socket, which the types of mysql2 lack: a graceful end of its connection waits for a
 * server that may be dead.
 */
export type Wire = Connection & { stream: Socket; node?: Node }

const DEFAULT_PORT = 3306

/** The servers of the URLs, in this order. */
export const nodesOf = (urls: string[]): Node[] =>
  urls.map(url => {
    const { hostname, port } = new URL(url)
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || DEFAULT_PORT }
  })

/**
 * The servers of one database, in order of preference: connections go to the first one that works.
 * A server that fails is skipped until it answers again.
 */
export function createNodes(all: Node[], tls?: DatabaseTls) {
  const connectTo = (node: Node) => connectByTls({ ...options, ...node }, tls) as Wire
  const failed = new Set<Node>()
  let options: ConnectionOptions = {}
  let turn = 0
  let timer: NodeJS.Timeout | undefined

  /** While none works, each server is tried in turn. */
  const best = () => all.find(node => !failed.has(node)) ?? all[turn++ % all.length]

  function leave(node: Node | undefined): void {
    if (!node || all.length === 1) return
    failed.add(node)
    timer ??= setInterval(look, LOOK).unref()
  }

  function take(node: Node): void {
    failed.delete(node)
    if (failed.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function look(): void {
    for (const node of failed)
      once(node, 'SELECT 1 FROM migration LIMIT 1').then(
        () => take(node),
        () => {},
      )
  }

  /** Runs one statement on a connection of its own. */
  function once(node: Node, sql: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const on = connectTo(node)
      on.on('error', reject)
      const slow = setTimeout(() => {
        on.stream.destroy()
        reject(new Error('The database did not answer in time.'))
      }, 2 * LOOK).unref()
      on.query(sql, (error, rows) => {
        clearTimeout(slow)
        on.destroy()
        // A new database has no tables yet.
        if (error && error.code !== 'ER_NO_SUCH_TABLE') reject(error)
        else resolve(rows)
      })
    })
  }

  return {
    several: all.length > 1,
    leave,

    /**
     * Connects to the best node. For Sequelize, which takes all options except the host from the
     * URL.
     */
    connect(given: ConnectionOptions): Connection {
      options = given
      const node = best()
      if (!node) throw new Error('The URL names no server.')
      const on: Wire = Object.assign(connectTo(node), { node })
      const refused = () => leave(node)
      on.once('error', refused)
      on.once('connect', () => {
        on.off('error', refused)
        take(node)
        // A node that has left its cluster keeps its connections, but refuses all statements.
        watchErrors(on, error => {
          if (!isUnprepared(error)) return
          leave(node)
          on.destroy()
        })
      })
      return on
    },

    /** Whether a node works that is preferred to the node of a connection. */
    isLessPreferred: ({ node }: Wire): boolean =>
      node !== all.find(each => !failed.has(each)) && failed.size < all.length,

    /**
     * The answers of all nodes except the node of a connection. Nodes that do not answer are left
     * out.
     */
    async others({ node: own }: Wire, sql: string): Promise<unknown[]> {
      const answers = await Promise.allSettled(
        all.filter(node => node !== own).map(node => once(node, sql)),
      )
      return answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []))
    },

    close: () => clearInterval(timer),
  }
}
