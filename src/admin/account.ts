import type { Db } from '../../db/index.ts'
import type { PersonRow } from '../../db/queries/login.ts'
import type { Config } from '../config/config.ts'
import { AppError, InvalidInput } from '../runtime/errors.ts'
import { table } from '../runtime/table.ts'
import { loginLinkService } from '../services/accounts/login-link.ts'
import { LoginProblem } from '../services/accounts/login-problem.ts'
import type { Program } from './plan.ts'

const problems: Partial<Record<LoginProblem['code'], string>> = {
  email_invalid: 'This is not an e-mail address.',
  name_long: 'A name has up to 200 characters.',
  exists: 'There is an account with this address. Use "account reset".',
}

const linksOf = (db: Db, { publicUrl, smtpUrl }: Config) =>
  loginLinkService({ db, publicUrl: () => publicUrl, smtpUrl })

/** Replaces the errors of forms by messages for the command line. @throws INVALID_INPUT */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LoginProblem)
      throw new InvalidInput(error.field ?? 'account', problems[error.code] ?? error.code)
    throw error
  }
}

const dayOf = (at: number | null) =>
  at === null ? 'never' : new Date(Number(at)).toISOString().slice(0, 10)

const waysOf = ({ hasPassword, hasFactor, passkeys }: PersonRow): string =>
  [
    ...(hasPassword ? ['password'] : []),
    ...(hasFactor ? ['second factor'] : []),
    ...(Number(passkeys) > 0 ? [`${passkeys} passkeys`] : []),
  ].join(', ') || 'none'

/** Declares the commands about accounts of the service itself. */
export function accountCommands({ command, run }: Program): void {
  const account = command('account', 'creates and resets accounts with a password or passkey')

  account
    .command('create <address>')
    .description('makes a one-time link with which a person creates an account')
    .option('--name <name>', 'their name', '')
    .allowExcessArguments(false)
    .action((email: string, { name }: { name: string }) =>
      run(async (_operator, { db, config }) => {
        requireAccounts(config)
        const link = await inWords(linksOf(db, config).invite(null, { email, name }))
        return { fact: { link }, words: `${link}\nThe link works once, within 7 days.` }
      }),
    )

  account
    .command('reset <user>')
    .description('makes a one-time link with which a person chooses a new password')
    .option('--all', 'also remove the second factor and all passkeys', false)
    .allowExcessArguments(false)
    .action((named: string, { all }: { all: boolean }) =>
      run(async (operator, { db, config }) => {
        requireAccounts(config)
        const { id } = await operator.user(named)
        const link = await inWords(linksOf(db, config).resetFor(null, id, all))
        return { fact: { link }, words: `${link}\nThe link works once, within 24 hours.` }
      }),
    )

  account
    .command('list')
    .description('shows how people sign in with accounts of this service')
    .allowExcessArguments(false)
    .action(() =>
      run(async (_operator, { db, config }) => {
        const people = (await linksOf(db, config).people()).filter(
          ({ loginId }) => loginId !== null,
        )
        const rows = people.map(person => [
          person.email,
          person.name,
          waysOf(person),
          dayOf(person.lastSignInAt),
        ])
        const words =
          rows.length > 0
            ? table([['E-MAIL', 'NAME', 'SIGNS IN BY', 'LAST SIGN-IN'], ...rows])
            : 'No accounts.'
        return { fact: { accounts: people }, words }
      }),
    )
}

function requireAccounts({ accounts }: Config): void {
  if (!accounts)
    throw new AppError(
      'FORBIDDEN',
      'This service has no accounts of its own. Set SIGN_IN=accounts, as the service has it.',
    )
}
