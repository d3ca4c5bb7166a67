import { type Command, Option } from 'commander'
import type { SaveOptions } from '../actions/copy.ts'
import type { EditOptions, QuickShareOptions, ReceivedOptions, ShareOptions } from '../actions/share.ts'
import { declare, group, perform, wholeNumber } from '../command.ts'
import { durationOrNever, qrOption } from '../words.ts'

const passwordOption = ['--password', 'prompt for a password, or read it from standard input'] as const
const labelOption = ['--label <text>', 'what you call it, for yourself'] as const
const viewOption = ['--view-only', 'let them look at the file on the page of the share, not download it'] as const
const editOption = (...conflicts: string[]) =>
  new Option(
    '--edit',
    'let them change it: upload into a folder, rename, move, replace and delete what is in it',
  ).conflicts(conflicts)
const noticeOption = ['--notify-me', 'tell me by mail when it is used, at most once an hour'] as const

export function declareShares(program: Command): void {
  const share = declare(program, 'share <path...>', {
    does: 'share files and folders with a person, by e-mail address, or by one link',
    details:
      'The user who signs in with this e-mail address receives them. Of a folder they see what is in it at the time. From a workspace, who writes there may share. Sharing again renews the share. With --link, everyone who has the link sees all of them; a link lives as long as the service says, unless --for does.',
    examples: [
      'share docs/a.txt --with bob@example.com',
      "share a.txt b.txt --with bob@example.com --for '2 weeks' --notify",
      'share a.txt b.txt photos --link',
      'share plans --with bob@example.com --edit',
    ],
  })
    .option('--with <email>', 'e-mail address of the recipient')
    .option('--link', 'make one link to all of them, for anyone who has it')
    .option('--together', 'make one share of all of them, instead of one each')
    .option('--for <duration>', 'how long: 30m, 12h, 7d, 2w, 6mo, 1y, or never; 7d with a person', durationOrNever)
    .option('--max-downloads <n>', 'maximum number of downloads of the link', wholeNumber(1))
    .option('--notify', 'notify the recipient by mail')
    .option('--message <text>', 'notify the recipient by mail with these words')
    .option(...passwordOption)
    .option(...qrOption)
    .option(...labelOption)
    .option(...viewOption)
    .addOption(editOption('viewOnly', 'password'))
    .option(...noticeOption)
  share.action((paths: string[], options: ShareOptions) =>
    perform(share, async context => (await import('../actions/share.ts')).share(context, paths, options)),
  )

  const quick = declare(program, 'quick-share <path>', {
    does: 'create a link to a file or folder, for anyone who has the link',
    examples: [
      'quick-share docs/a.txt',
      'quick-share docs/a.txt --for 1h --max-downloads 1 --password',
      'quick-share garden:/beds',
    ],
  })
    .option(
      '--for <duration>',
      'how long: 30m, 12h, 7d, 2w, 6mo, 1y, or never; as the service says without it',
      durationOrNever,
    )
    .option('--max-downloads <n>', 'maximum number of downloads', wholeNumber(1))
    .option(...passwordOption)
    .option(...qrOption)
    .option(...labelOption)
    .option(...viewOption)
    .option(...noticeOption)
  quick.action((path: string, options: QuickShareOptions) =>
    perform(quick, async context => (await import('../actions/share.ts')).quickShare(context, path, options)),
  )

  const shares = declare(program, 'shares', {
    does: 'list your shares, with people and by links',
    examples: ['shares', "shares --json | jq -r '.shares[].sharing_link'"],
  })
  shares.action(() => perform(shares, async context => (await import('../actions/share.ts')).shares(context)))

  const links = group(program, 'links', 'change links, and what is shared with people')

  const edit = declare(links, 'edit <link>', {
    does: 'change a share by its link or token, which stays the same',
    details: 'What is not named stays. A share that has expired or is used up can be renewed for 30 days.',
    examples: [
      'links edit https://files.example.com/share/6mJ... --expires 30d',
      'links edit 6mJ... --no-limit --view-only',
    ],
  })
    .option(...labelOption)
    .option('--expires <duration>', 'how long it lives from now on: 12h, 7d, 6mo, or never', durationOrNever)
    .option(...passwordOption)
    .option('--no-password', 'ask for no password')
    .option('--limit <n>', 'maximum number of downloads, those that were among them', wholeNumber(1))
    .option('--no-limit', 'any number of downloads')
    .option(...viewOption)
    .option('--download', 'let them download the file, too')
    .addOption(editOption('viewOnly'))
    .option('--no-edit', 'let them change nothing')
    .option(...noticeOption)
    .option('--no-notify-me', 'tell me nothing')
  edit.action((link: string, { viewOnly, ...options }: EditOptions & { viewOnly?: boolean }) =>
    perform(edit, async context =>
      (await import('../actions/share.ts')).edit(context, link, viewOnly ? { ...options, download: false } : options),
    ),
  )

  const revoke = declare(program, 'revoke <link...>', {
    does: 'end shares, by their link or token',
    examples: ['revoke https://files.example.com/share/6mJ...', 'revoke 6mJ...'],
  })
  revoke.action((links: string[]) =>
    perform(revoke, async context => (await import('../actions/share.ts')).revoke(context, links)),
  )

  const save = declare(program, 'save <link> [path...]', {
    does: 'copy what is behind a link into your files, or into a workspace',
    details: `Nothing is downloaded or uploaded. The copy is yours: it stays when the share ends. Of a shared folder, paths name
files and folders in it; without one, the whole folder is copied. Counts as one download.`,
    examples: [
      'save https://files.example.com/share/6mJ...',
      "save https://files.example.com/share/6mJ... 'day 1' plan.txt --to trips/2026",
    ],
  })
    .option('-t, --to <folder>', 'destination folder; created if missing')
    .option(...passwordOption)
    .option('--replace', 'replace files of the same names, which go to the trash')
    .addOption(new Option('-k, --keep-both', 'copy under a free name beside what is there').conflicts('replace'))
  save.action((link: string, paths: string[], options: SaveOptions) =>
    perform(save, async context => (await import('../actions/copy.ts')).save(context, link, paths, options)),
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
