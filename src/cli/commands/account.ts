import type { Command } from 'commander'
import type { LoginOptions } from '../actions/login.ts'
import { declare, perform, several, wholeNumber } from '../command.ts'

export function declareAccount(program: Command): void {
  const login = declare(program, 'login [url]', {
    does: 'sign in to a service through a browser, or with an API key',
    details: `In a terminal, your browser opens and asks you to approve. The service then makes an API key for this computer, which is
valid for 90 days unless you choose another time, and is deleted by satchel logout. Over SSH, and where there is no
display, open the URL on any other device and compare the code (--device).

With --key, and without a terminal, an API key is read from a prompt without echo, or from standard input. It is verified
before it is stored. Several credentials can be stored, in a file that only you can read: a private key for your own
files, a key for each workspace, and a session, for operations that no key may use (managing keys, creating workspaces,
answering invites). They are stored for each service; commands use the service of the last login, or of --service.
SATCHEL_URL, SATCHEL_KEY and SATCHEL_SESSION in the environment take precedence. With --json, the URL to open is printed
as a JSON document on stderr.`,
    examples: [
      'login https://files.example.com',
      'login --device --for 7d --scope read   # on a server: with a code, for a week, to read only',
      'login --key https://files.example.com < key.txt',
      'login --workspace 0198c0de-0000-7000-8000-000000000000   # a key that cannot list its workspace',
      'login --session   # the cookie session_id of a browser that has signed in',
    ],
  })
    .option('--browser', 'approve in the browser of this computer')
    .option('--device', 'approve in a browser on any device, with a code')
    .option('--no-open', 'print the URL, but do not open a browser')
    .option(
      '--scope <scope>',
      'what the new key may do: read, write, share, delete (may be repeated; default: all)',
      several,
    )
    .option('--for <duration>', 'how long the new key is valid, up to 365d (default: 90d)')
    .option(
      '--wait <seconds>',
      'how long to wait for the approval (default: 300, with a code 600)',
      wholeNumber(1),
    )
    .option('--key', 'read an API key instead')
    .option('--session', 'read the value of the session cookie instead of a key')
    .option('--workspace <id>', 'the workspace of the key, if the key itself cannot read it')
  login.action((url: string | undefined, options: LoginOptions) =>
    perform(login, async context =>
      (await import('../actions/login.ts')).login(context, url, options),
    ),
  )

  const logout = declare(program, 'logout', {
    does: 'remove the stored keys and session of a service',
    details:
      'The service is that of the last login, or of --service. The session is also ended at the service, and the key that satchel login has made through a browser is deleted there. Keys that you have entered remain valid until they are deleted: satchel keys delete.',
    examples: ['logout', 'logout --service https://files.example.com'],
  })
  logout.action(() =>
    perform(logout, async context => (await import('../actions/login.ts')).logout(context)),
  )

  const whoami = declare(program, 'whoami', {
    does: 'show who is signed in, where, and with which credentials',
    examples: ['whoami', 'whoami --json'],
  })
  whoami.action(() =>
    perform(whoami, async context => (await import('../actions/login.ts')).whoami(context)),
  )

  const quota = declare(program, 'quota [workspace]', {
    does: 'show usage and limits',
    examples: ['quota', 'quota garden', 'quota --json'],
  })
  quota.action((workspace: string | undefined) =>
    perform(quota, async context =>
      (await import('../actions/quota.ts')).quota(context, workspace),
    ),
  )
}
