import type { Db } from '../index.ts'
import type { Operator } from '../models/operator.ts'
import type { User } from '../models/user.ts'
import { placeholders } from './sql.ts'

type Person = Pick<User, 'id' | 'email' | 'verifiedEmail' | 'name'>
type AppointedRow = Person & Pick<Operator, 'appointedBy' | 'appointedAt'>

const columns = 'u.id, u.email, u.verified_email AS verifiedEmail, u.name'

/** The maximum number of appointed operators in a list. */
const MAX_OPERATORS = 1000

/** The appointed operators in the order of their appointment. */
export const appointedOperators = (db: Db): Promise<AppointedRow[]> =>
  db.rows(
    `SELECT ${columns}, o.appointed_by AS appointedBy, o.appointed_at AS appointedAt
     FROM operator o
     JOIN user u ON u.id = o.user_id
     ORDER BY o.appointed_at, u.id
     LIMIT ${MAX_OPERATORS}`,
  )

/** The accounts with one of these verified e-mail addresses. At least one address is required. */
export const accountsWithAddresses = (db: Db, addresses: readonly string[]): Promise<Person[]> =>
  db.rows(
    `SELECT ${columns}
     FROM user u
     WHERE u.verified_email IN (${placeholders(addresses)})
     ORDER BY u.id`,
    [...addresses],
  )
