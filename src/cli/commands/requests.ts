import { type Command, Option } from 'commander'
import type { EditOptions, RequestOptions } from '../actions/request.ts'
import { declare, perform, several, wholeNumber } from '../command.ts'
import { byteCount, durationOrNever, qrOption } from '../words.ts'

export function declareRequests(program: Command): void {
  const request = declare(program, 'request <folder>', {
    does: 'ask others for files: create a link with which they send files into a folder',
    details: 'Senders need no account, and see nothing of the folder. You are told of new files by mail.',
    examples: [
      'request inbox --label "Holiday pictures" --kind "image/*"',
      'request garden:/bills --max-files 10 --max-size 20M --expires never --password',
    ],
  })
    .option('--label <text>', 'what is asked for; the name of the folder without it')
    .option('--message <text>', 'what senders are told beside')
    .option('--expires <duration>', 'how long it is open: 12h, 7d, 6mo, or never', durationOrNever, '30d')
    .option('--password', 'prompt for a password, or read it from standard input')
    .option('--max-files <n>', 'how many files it takes', wholeNumber(1))
    .option('--max-size <bytes>', 'bytes that one file may have: 500K, 20M, 2G', byteCount)
    .option('--max-total <bytes>', 'bytes that all files may have', byteCount)
    .option(
      '--kind <kind>',
      'an extension or media type that it takes: .pdf, image/*; several times for several',
      several,
    )
    .option('--ask-name', 'senders have to give a name')
    .option(...qrOption)
  request.action((folder: string, options: RequestOptions) =>
    perform(request, async context => (await import('../actions/request.ts')).request(context, folder, options)),
  )

  const requests = declare(program, 'requests', {
    does: 'list your file requests, with what they have received',
    examples: ['requests', "requests --json | jq -r '.file_requests[].link'"],
  })
  requests.action(() => perform(requests, async context => (await import('../actions/request.ts')).requests(context)))

  const edit = declare(program, 'edit-request <link>', {
    does: 'change a file request by its link or token, which stays the same',
    details: 'What is not named stays. One that has expired can be opened again.',
    examples: [
      'edit-request https://files.example.com/request/6mJ... --expires 14d',
      'edit-request 6mJ... --no-max-files --any-kind --no-password',
    ],
  })
    .option('--label <text>', 'what is asked for')
    .option('--message <text>', 'what senders are told beside')
    .option('--expires <duration>', 'how long it is open from now on: 12h, 7d, 6mo, or never', durationOrNever)
    .option('--password', 'prompt for a password, or read it from standard input')
    .option('--no-password', 'ask for no password')
    .option('--max-files <n>', 'how many files it takes, those that it has received among them', wholeNumber(1))
    .option('--no-max-files', 'any number of files')
    .option('--max-size <bytes>', 'bytes that one file may have: 500K, 20M, 2G', byteCount)
    .option('--no-max-size', 'files of any size')
    .option('--max-total <bytes>', 'bytes that all files may have', byteCount)
    .option('--no-max-total', 'any number of bytes')
    .option('--kind <kind>', 'an extension or media type that it takes; several times for several', several)
    .addOption(new Option('--any-kind', 'files of all kinds').conflicts('kind'))
    .option('--ask-name', 'senders have to give a name')
    .option('--no-ask-name', 'senders need not give a name')
    .option('--notify-me', 'tell me of new files by mail, at most once an hour')
    .option('--no-notify-me', 'tell me nothing')
  edit.action((link: string, options: EditOptions) =>
    perform(edit, async context => (await import('../actions/request.ts')).editRequest(context, link, options)),
  )

  const close = declare(program, 'close-request <link...>', {
    does: 'close file requests for good, by their link or token; what they have received stays',
    examples: ['close-request https://files.example.com/request/6mJ...'],
  })
  close.action((links: string[]) =>
    perform(close, async context => (await import('../actions/request.ts')).closeRequests(context, links)),
  )
}
