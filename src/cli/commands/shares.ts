import type { Command } from 'commander'
import type { QuickShareOptions, ReceivedOptions, ShareOptions } from '../actions/share.ts'
import { declare, perform, wholeNumber } from '../command.ts'
import { duration } from '../words.ts'

const passwordOption = ['--password', 'ask for a password, or read it from standard input'] as const

export function declareShares(program: Command): void {
  const share = declare(program, 'share <path...>', {
    does: 'share files of yours with somebody, by their e-mail address',
    details: 'Whoever signs in with this address receives them. Sharing again renews.',
    examples: [
      'share docs/a.txt --with bob@example.com',
      "share a.txt b.txt --with bob@example.com --for '2 weeks' --notify",
    ],
  })
    .requiredOption('--with <email>', 'whom')
    .option('--for <duration>', 'how long: 30m, 12h, 7d, 2w, 6mo, 1y', duration, '7d')
    .option('--notify', 'send them a mail')
    .option(...passwordOption)
  share.action((paths: string[], options: ShareOptions) =>
    perform(share, async context => (await import('../actions/share.ts')).share(context, paths, options)),
  )

  const quick = declare(program, 'quick-share <path>', {
    does: 'make a link to a file of yours that works for everybody who has it',
    examples: ['quick-share docs/a.txt', 'quick-share docs/a.txt --for 1h --max-downloads 1 --password'],
  })
    .option('--for <duration>', 'how long: 30m, 12h, 7d, 2w, 6mo, 1y', duration, '24h')
    .option('--max-downloads <n>', 'how often', wholeNumber(1))
    .option(...passwordOption)
  quick.action((path: string, options: QuickShareOptions) =>
    perform(quick, async context => (await import('../actions/share.ts')).quickShare(context, path, options)),
  )

  const shares = declare(program, 'shares', {
    does: 'list what you share, with people and by links',
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
    does: 'list what others share with you; satchel get <link> downloads it',
    examples: ['received', 'received --unseen --mark-seen'],
  })
    .option('--unseen', 'only what is new')
    .option('--mark-seen', 'mark what is listed as seen')
  received.action((options: ReceivedOptions) =>
    perform(received, async context => (await import('../actions/share.ts')).received(context, options)),
  )
}
