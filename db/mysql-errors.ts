import type { Connection, QueryError } from 'mysql2'

/**
 * Lets a function handle the errors of a connection's statements before their senders see them.
 * @param handles returns true if it handles the error, which is then not passed on; it may send the
 * statement in another way
 */
function interceptErrors(
  on: Connection,
  method: 'query' | 'execute',
  handles: (error: QueryError, args: unknown[]) => boolean,
): void {
  const send = on[method].bind(on) as (...args: unknown[]) => unknown
  const intercepted = (...args: unknown[]) => {
    const done = args.at(-1)
    if (typeof done !== 'function') return send(...args)
    return send(...args.slice(0, -1), (error: QueryError | null, ...results: unknown[]) => {
      if (!error || !handles(error, args)) done(error, ...results)
    })
  }
  Object.assign(on, { [method]: intercepted })
}

/**
 * A server has a global limit of prepared statements (max_prepared_stmt_count), which other
 * programs use, too. A statement that it refuses to prepare was not executed, and is sent as text
 * instead.
 */
export function fallBackToText(on: Connection): void {
  interceptErrors(on, 'execute', ({ code }, args) => {
    if (code !== 'ER_MAX_PREPARED_STMT_COUNT_REACHED') return false
    const query = on.query.bind(on) as (...args: unknown[]) => unknown
    query(...args)
    return true
  })
}

/** Calls a function with each error of a statement. */
export function watchErrors(on: Connection, seen: (error: QueryError) => void): void {
  const handles = (error: QueryError) => {
    seen(error)
    return false
  }
  interceptErrors(on, 'query', handles)
  interceptErrors(on, 'execute', handles)
}
