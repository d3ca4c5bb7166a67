import { type Command, Option } from 'commander'
import type { EditOptions, RequestOptions } from '../actions/request.ts'
import { declare, perform, several, wholeNumber } from '../command.ts'
import { byteCount, durationOrNever, qrOption } from '../words.ts'

export function declareRequests(program: Command): void {
  const request = declare(program, 'request <folder>', {
    does: 'request files from others: create a link for sending files into a folder',
    details: 'Senders need no account and cannot see the folder. You get a mail about new files.',
    examples: [
      'request inbox --label "Holiday pictures" --kind "image/*"',
      'request garden:/bills --max-files 10 --max-size 20M --expires never --password',
    ],
  })
    .option('--label <text>', 'what you ask for; by default the name of the folder')
    .option('--message <text>', 'a message to the senders')
    .option(
      '--expires <duration>',
      'how long the request is open: 12h, 7d, 6mo, or never',
      durationOrNever,
      '30d',
    )
    .option('--password', 'prompt for a password, or read it from standard input')
    .option('--max-files <n>', 'maximum number of files', wholeNumber(1))
    .option('--max-size <bytes>', 'maximum size of a file: 500K, 20M, 2G', byteCount)
    .option('--max-total <bytes>', 'maximum size of all files together', byteCount)
    .option(
      '--kind <kind>',
      'an accepted extension or media type, such as .pdf or image/*; repeat it for several',
      several,
    )
    .option('--ask-name', 'require a name from senders')
    .option(...qrOption)
  request.action((folder: string, options: RequestOptions) =>
    perform(request, async context =>
      (await import('../actions/request.ts')).request(context, folder, options),
    ),
  )

  const requests = declare(program, 'requests', {
    does: 'list your file requests and the files they have received',
    examples: ['requests', "requests --json | jq -r '.file_requests[].link'"],
  })
  requests.action(() =>
    perform(requests, async context => (await import('../actions/request.ts')).requests(context)),
  )

  const edit = declare(program, 'edit-request <link>', {
    does: 'change a file request by its link or token, which stays the same',
    details: 'Other terms stay the same. A request that has expired can be opened again.',
    examples: [
      'edit-request https://files.example.com/request/6mJ... --expires 14d',
      'edit-request 6mJ... --no-max-files --any-kind --no-password',
    ],
  })
    .option('--label <text>', 'what you ask for')
    .option('--message <text>', 'a message to the senders')
    .option(
      '--expires <duration>',
      'how long the request is open from now on: 12h, 7d, 6mo, or never',
      durationOrNever,
    )
    .option('--password', 'prompt for a password, or read it from standard input')
    .option('--no-password', 'remove the password')
    .option(
      '--max-files <n>',
      'maximum number of files, including those already received',
      wholeNumber(1),
    )
    .option('--no-max-files', 'no maximum number of files')
    .option('--max-size <bytes>', 'maximum size of a file: 500K, 20M, 2G', byteCount)
    .option('--no-max-size', 'no maximum size of a file')
    .option('--max-total <bytes>', 'maximum size of all files together', byteCount)
    .option('--no-max-total', 'no maximum size of all files together')
    .option('--kind <kind>', 'an accepted extension or media type; repeat it for several', several)
    .addOption(new Option('--any-kind', 'accept files of all kinds').conflicts('kind'))
    .option('--ask-name', 'require a name from senders')
    .option('--no-ask-name', 'do not require a name from senders')
    .option('--notify-me', 'send me a mail about new files, at most once an hour')
    .option('--no-notify-me', 'send me no mails')
  edit.action((link: string, options: EditOptions) =>
    perform(edit, async context =>
      (await import('../actions/request.ts')).editRequest(context, link, options),
    ),
  )

  const close = declare(program, 'close-request <link...>', {
    does: 'close file requests permanently, by their link or token; received files are kept',
    examples: ['close-request https://files.example.com/request/6mJ...'],
  })
  close.action((links: string[]) =>
    perform(close, async context =>
      (await import('../actions/request.ts')).closeRequests(context, links),
    ),
  )
}
