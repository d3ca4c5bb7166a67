import type { Command } from 'commander'
import type { LoginOptions } from '../actions/login.ts'
import { declare, perform } from '../command.ts'

export function declareAccount(program: Command): void {
  const login = declare(program, 'login [url]', {
    does: 'sign in to a service with an API key, and store both',
    details: `The key is read from a prompt without echo, or from standard input. It is verified before it is stored, in a
file that only you can read. Several credentials can be stored: a private key for your own files, a key for
each workspace, and a session, for operations that no key may use (managing keys, creating workspaces,
answering invites). They are stored for each service; commands use the service of the last login, or of --service.
SATCHEL_URL, SATCHEL_KEY and SATCHEL_SESSION in the environment take precedence.`,
    examples: [
      'login https://files.example.com',
      'login https://files.example.com < key.txt',
      'login --workspace 0198c0de-0000-7000-8000-000000000000   # a key that cannot list its workspace',
      'login --session   # the cookie session_id of a browser that has signed in',
    ],
  })
    .option('--session', 'read the value of the session cookie instead of a key')
    .option('--workspace <id>', 'the workspace of the key, if the key itself cannot read it')
  login.action((url: string | undefined, options: LoginOptions) =>
    perform(login, async context => (await import('../actions/login.ts')).login(context, url, options)),
  )

  const logout = declare(program, 'logout', {
    does: 'remove the stored keys and session of a service',
    details:
      'The service is that of the last login, or of --service. The session is also ended at the service. Keys remain valid until they are deleted: satchel keys delete.',
    examples: ['logout', 'logout --service https://files.example.com'],
  })
  logout.action(() => perform(logout, async context => (await import('../actions/login.ts')).logout(context)))

  const whoami = declare(program, 'whoami', {
    does: 'show who is signed in, where, and with which credentials',
    examples: ['whoami', 'whoami --json'],
  })
  whoami.action(() => perform(whoami, async context => (await import('../actions/login.ts')).whoami(context)))

  const quota = declare(program, 'quota [workspace]', {
    does: 'show usage and limits',
    examples: ['quota', 'quota garden', 'quota --json'],
  })
  quota.action((workspace: string | undefined) =>
    perform(quota, async context => (await import('../actions/quota.ts')).quota(context, workspace)),
  )
}
