import type { Command } from 'commander'
import type { QuickShareOptions, ReceivedOptions, ShareOptions } from '../actions/share.ts'
import { declare, perform, wholeNumber } from '../command.ts'
import { duration } from '../words.ts'

const passwordOption = ['--password', 'prompt for a password, or read it from standard input'] as const

export function declareShares(program: Command): void {
  const share = declare(program, 'share <path...>', {
    does: 'share files of yours with a person, by e-mail address',
    details: 'The user who signs in with this e-mail address receives them. Sharing again renews the share.',
    examples: [
      'share docs/a.txt --with bob@example.com',
      "share a.txt b.txt --with bob@example.com --for '2 weeks' --notify",
    ],
  })
    .requiredOption('--with <email>', 'e-mail address of the recipient')
    .option('--for <duration>', 'how long: 30m, 12h, 7d, 2w, 6mo, 1y', duration, '7d')
    .option('--notify', 'notify the recipient by mail')
    .option(...passwordOption)
  share.action((paths: string[], options: ShareOptions) =>
    perform(share, async context => (await import('../actions/share.ts')).share(context, paths, options)),
  )

  const quick = declare(program, 'quick-share <path>', {
    does: 'create a link to a file of yours, for anyone who has the link',
    examples: ['quick-share docs/a.txt', 'quick-share docs/a.txt --for 1h --max-downloads 1 --password'],
  })
    .option('--for <duration>', 'how long: 30m, 12h, 7d, 2w, 6mo, 1y', duration, '24h')
    .option('--max-downloads <n>', 'maximum number of downloads', wholeNumber(1))
    .option(...passwordOption)
  quick.action((path: string, options: QuickShareOptions) =>
    perform(quick, async context => (await import('../actions/share.ts')).quickShare(context, path, options)),
  )

  const shares = declare(program, 'shares', {
    does: 'list your shares, with people and by links',
    examples: ['shares', "shares --json | jq -r '.shares[].sharing_link'"],
  })
  shares.action(() => perform(shares, async context => (await import('../actions/share.ts')).shares(context)))

  const revoke = declare(program, 'revoke <link...>', {
    does: 'end shares, by their link or token',
    examples: ['revoke https://files.example.com/share/6mJ...', 'revoke 6mJ...'],
  })
  revoke.action((links: string[]) =>
    perform(revoke, async context => (await import('../actions/share.ts')).revoke(context, links)),
  )

  const received = declare(program, 'received', {
    does: 'list files that others share with you; satchel get <link> downloads one',
    examples: ['received', 'received --unseen --mark-seen'],
  })
    .option('--unseen', 'only new ones')
    .option('--mark-seen', 'mark the listed ones as seen')
  received.action((options: ReceivedOptions) =>
    perform(received, async context => (await import('../actions/share.ts')).received(context, options)),
  )
}
