import type { Tx } from '../../../db/index.ts'
import { SERVICE_LOG } from '../../../db/models/event.ts'
import type { LoginLink, LoginLinkKind } from '../../../db/models/login-link.ts'
import {
  loginByEmail,
  loginOfUser,
  type PersonRow,
  peopleWithLogins,
} from '../../../db/queries/login.ts'
import type { Caller } from '../../access/caller.ts'
import type { Config } from '../../config/config.ts'
import { hashSecret, newSecret } from '../../runtime/tokens.ts'
import { DAY_MS } from '../../values/duration.ts'
import type { Core } from '../core.ts'
import { changeRunner, masked, operatorOf } from '../history/event.ts'
import { enqueue } from '../job.ts'
import { mailJob } from '../notices/mail.ts'
import { LoginProblem, readEmail, readName } from './login-problem.ts'

const lifetimes: Record<LoginLinkKind, number> = {
  first: DAY_MS,
  invite: 7 * DAY_MS,
  'sign-up': DAY_MS,
  reset: DAY_MS,
  'reset-all': DAY_MS,
  'address-from': DAY_MS,
  'address-to': DAY_MS,
}
/** The maximum number of people whose sign-in methods operators see. */
const MOST_PEOPLE = 500

/** The stored form of the secret of a link. */
export const hashOfLink = (secret: string): string => hashSecret(secret).toString('hex')

/** One-time links to create an account or to regain access to it. */
export function loginLinkService({
  db,
  publicUrl,
  smtpUrl,
  change = changeRunner({ db }),
  wake = () => {},
}: Core<'db' | 'publicUrl'> & Partial<Core<'change' | 'wake'>> & Pick<Config, 'smtpUrl'>) {
  /** Whether mails are delivered. Without SMTP, they are only written to files. */
  const hasMail = smtpUrl !== ''

  async function makeLink(
    kind: LoginLinkKind,
    of: Pick<LoginLink, 'email' | 'name' | 'userId' | 'madeBy'>,
    tx?: Tx,
  ): Promise<string> {
    const secret = newSecret()
    const now = Date.now()
    const times = { createdAt: now, expiresAt: now + lifetimes[kind] }
    const row = { hash: hashOfLink(secret), kind, ...of, ...times }
    await db.LoginLink.create(row, tx ? { transaction: tx } : {})
    return secret
  }

  const urlOf = (page: string, secret: string) => `${publicUrl()}/sign-in/${page}/${secret}`

  async function mailLink(
    to: string,
    about: 'invite' | 'sign-up' | 'known' | 'reset' | 'address',
    link: string,
  ): Promise<void> {
    await db.transaction(tx =>
      enqueue(db, mailJob, { template: 'account-link', to, values: { about, link } }, tx),
    )
    wake()
  }

  return {
    hasMail,
    makeLink,
    urlOf,
    mailLink,

    /**
     * Invites a person to create an account. The operator vouches for the address.
     * @param by null for the command line of the service
     * @returns the URL to pass on; it is also sent by mail if SMTP is configured
     * @throws LoginProblem
     */
    async invite(by: Caller | null, given: { email: string; name: string }): Promise<string> {
      const email = readEmail(given.email)
      const name = given.name.trim() === '' ? '' : readName(given.name, email)
      if (await loginByEmail(db, email)) throw new LoginProblem('email', 'exists')
      const secret = await change(operatorOf(by), async ({ tx, record }) => {
        const recipient = masked(email)
        record(SERVICE_LOG, { kind: 'account.invited', subject: null, details: { recipient } })
        const madeBy = by?.userId ?? null
        return makeLink('invite', { email, name, userId: null, madeBy }, tx)
      })
      const url = urlOf('invite', secret)
      if (hasMail) await mailLink(email, 'invite', url)
      return url
    },

    /**
     * Creates a link to choose a new password. With `all`, the link also removes the second factor
     * and the passkeys. For an account without a login, the link creates one.
     * @param by null for the command line of the service
     * @throws LoginProblem `email_invalid` for an account without a usable address
     */
    async resetFor(by: Caller | null, userId: string, all: boolean): Promise<string> {
      const login = await loginOfUser(db, userId)
      const user = await db.User.findByPk(userId, { raw: true })
      const email = login?.email ?? readEmail(user?.email ?? '')
      const secret = await change(operatorOf(by), async ({ tx, record }) => {
        record(userId, { kind: 'account.reset', subject: userId })
        const of = { email, name: '', userId, madeBy: by?.userId ?? null }
        return makeLink(all ? 'reset-all' : 'reset', of, tx)
      })
      return urlOf('reset', secret)
    },

    /** The sign-in methods of accounts, for operators. */
    people: (): Promise<PersonRow[]> => peopleWithLogins(db, MOST_PEOPLE),
  }
}

export type LoginLinkService = ReturnType<typeof loginLinkService>
