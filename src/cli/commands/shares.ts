import { type Command, Option } from 'commander'
import type { SaveOptions } from '../actions/copy.ts'
import type {
  EditOptions,
  QuickShareOptions,
  ReceivedOptions,
  ShareOptions,
} from '../actions/share.ts'
import { declare, group, perform, wholeNumber } from '../command.ts'
import { durationOrNever, qrOption } from '../words.ts'

const passwordOption = [
  '--password',
  'prompt for a password, or read it from standard input',
] as const
const labelOption = ['--label <text>', 'a name for the share that only you see'] as const
const titleOption = ['--title <text>', 'the heading of the page of the share'] as const
const messageOption = ['--message <text>', 'what the page of the share says to visitors'] as const
const viewOption = [
  '--view-only',
  'let recipients view the file on the page of the share, but not download it',
] as const
const editOption = (...conflicts: string[]) =>
  new Option(
    '--edit',
    'let recipients change it: upload into a folder, rename, move, replace and delete what is in it',
  ).conflicts(conflicts)
const noticeOption = [
  '--notify-me',
  'send me a mail when the share is used, at most once an hour',
] as const

export function declareShares(program: Command): void {
  const share = declare(program, 'share <path...>', {
    does: 'share files and folders with a person, by e-mail address, or by one link',
    details:
      'The user who signs in with this e-mail address receives the share. A shared folder always shows its present content. Files of a workspace can be shared by members who may write there. Sharing again renews the share. With --link, everyone who has the link sees all of them; a link lives as long as the service says, unless --for does.',
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
    .option(
      '--for <duration>',
      'how long: 30m, 12h, 7d, 2w, 6mo, 1y, or never; 7d with a person',
      durationOrNever,
    )
    .option('--max-downloads <n>', 'maximum number of downloads of the link', wholeNumber(1))
    .option('--notify', 'notify the recipient by mail')
    .option(...passwordOption)
    .option(...qrOption)
    .option(...labelOption)
    .option(...titleOption)
    .option('--message <text>', 'what the page and the mail say; with a person, sends the mail')
    .option(...viewOption)
    .addOption(editOption('viewOnly', 'password'))
    .option(...noticeOption)
  share.action((paths: string[], options: ShareOptions) =>
    perform(share, async context =>
      (await import('../actions/share.ts')).share(context, paths, options),
    ),
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
      'how long the link is valid: 30m, 12h, 7d, 2w, 6mo, 1y, or never; the service sets the default',
      durationOrNever,
    )
    .option('--max-downloads <n>', 'maximum number of downloads', wholeNumber(1))
    .option(...passwordOption)
    .option(...qrOption)
    .option(...labelOption)
    .option(...titleOption)
    .option(...messageOption)
    .option(...viewOption)
    .option(...noticeOption)
  quick.action((path: string, options: QuickShareOptions) =>
    perform(quick, async context =>
      (await import('../actions/share.ts')).quickShare(context, path, options),
    ),
  )

  const shares = declare(program, 'shares', {
    does: 'list your shares: links, and shares with people',
    examples: ['shares', "shares --json | jq -r '.shares[].sharing_link'"],
  })
  shares.action(() =>
    perform(shares, async context => (await import('../actions/share.ts')).shares(context)),
  )

  const links = group(program, 'links', 'change links and shares with people')

  const edit = declare(links, 'edit <link>', {
    does: 'change a share by its link or token, which stays the same',
    details:
      'Other terms stay the same. A share that has expired or is used up can be renewed within 30 days.',
    examples: [
      'links edit https://files.example.com/share/6mJ... --expires 30d',
      'links edit 6mJ... --no-limit --view-only',
    ],
  })
    .option(...labelOption)
    .option(...titleOption)
    .option(...messageOption)
    .option(
      '--expires <duration>',
      'how long the share is valid from now on: 12h, 7d, 6mo, or never',
      durationOrNever,
    )
    .option(...passwordOption)
    .option('--no-password', 'remove the password')
    .option('--limit <n>', 'maximum number of downloads, including earlier ones', wholeNumber(1))
    .option('--no-limit', 'no maximum number of downloads')
    .option(...viewOption)
    .option('--download', 'let recipients also download the file')
    .addOption(editOption('viewOnly'))
    .option('--no-edit', 'let recipients change nothing')
    .option(...noticeOption)
    .option('--no-notify-me', 'send me no mails')
  edit.action((link: string, { viewOnly, ...options }: EditOptions & { viewOnly?: boolean }) =>
    perform(edit, async context =>
      (await import('../actions/share.ts')).edit(
        context,
        link,
        viewOnly ? { ...options, download: false } : options,
      ),
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
    does: 'copy shared files and folders into your files or into a workspace',
    details: `Nothing is downloaded or uploaded. The copy is yours: it stays when the share ends. Paths name files and folders in
a shared folder; without a path, the whole folder is copied. Saving counts as one download.`,
    examples: [
      'save https://files.example.com/share/6mJ...',
      "save https://files.example.com/share/6mJ... 'day 1' plan.txt --to trips/2026",
    ],
  })
    .option('-t, --to <folder>', 'destination folder; created if missing')
    .option(...passwordOption)
    .option('--replace', 'replace files with the same names; the replaced files go to the trash')
    .addOption(
      new Option('-k, --keep-both', 'keep existing files, and copy under a free name').conflicts(
        'replace',
      ),
    )
  save.action((link: string, paths: string[], options: SaveOptions) =>
    perform(save, async context =>
      (await import('../actions/copy.ts')).save(context, link, paths, options),
    ),
  )

  const received = declare(program, 'received', {
    does: 'list files that others share with you; satchel get <link> downloads one',
    examples: ['received', 'received --unseen --mark-seen'],
  })
    .option('--unseen', 'only shares that you have not seen')
    .option('--mark-seen', 'mark the listed shares as seen')
  received.action((options: ReceivedOptions) =>
    perform(received, async context =>
      (await import('../actions/share.ts')).received(context, options),
    ),
  )
}
