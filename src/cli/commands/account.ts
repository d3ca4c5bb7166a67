import type { Command } from 'commander'
import type { LoginOptions } from '../actions/login.ts'
import { declare, perform } from '../command.ts'

export function declareAccount(program: Command): void {
  const login = declare(program, 'login [url]', {
    does: 'sign in to a service with an API key, and remember both',
    details: `The key is read from a prompt that does not show it, or from standard input; the service is asked before
anything is stored, and the file can be read by you alone. Several logins add up: a private key for your own
files, a key of each workspace, and a session, for what no key may do (keys, making workspaces, invites).
At several services, each has its own; the last login is the one that commands go to, --service names another.
SATCHEL_URL, SATCHEL_KEY and SATCHEL_SESSION in the environment go before what is stored.`,
    examples: [
      'login https://files.example.com',
      'login https://files.example.com < key.txt',
      'login --workspace 0198c0de-0000-7000-8000-000000000000   # a key that cannot list its workspace',
      'login --session   # the cookie session_id of a browser that has signed in',
    ],
  })
    .option('--session', 'what is read is the value of the session cookie, not a key')
    .option('--workspace <id>', 'the workspace that the key belongs to, where the key itself may not tell')
  login.action((url: string | undefined, options: LoginOptions) =>
    perform(login, async context => (await import('../actions/login.ts')).login(context, url, options)),
  )

  const logout = declare(program, 'logout', {
    does: 'forget a service, with its keys and its session',
    details:
      'It is that of the last login, or what --service names. A session ends at the service, too. Keys live on until they are deleted: satchel keys delete.',
    examples: ['logout', 'logout --service https://files.example.com'],
  })
  logout.action(() => perform(logout, async context => (await import('../actions/login.ts')).logout(context)))

  const whoami = declare(program, 'whoami', {
    does: 'tell who is signed in, where, and by what',
    examples: ['whoami', 'whoami --json'],
  })
  whoami.action(() => perform(whoami, async context => (await import('../actions/login.ts')).whoami(context)))

  const quota = declare(program, 'quota [workspace]', {
    does: 'show what is stored, and how much may be',
    examples: ['quota', 'quota garden', 'quota --json'],
  })
  quota.action((workspace: string | undefined) =>
    perform(quota, async context => (await import('../actions/quota.ts')).quota(context, workspace)),
  )
}
