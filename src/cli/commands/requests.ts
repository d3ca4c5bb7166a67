import type { Command } from 'commander'
import type { RequestOptions } from '../actions/request.ts'
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

  const close = declare(program, 'close-request <link...>', {
    does: 'close file requests for good, by their link or token; what they have received stays',
    examples: ['close-request https://files.example.com/request/6mJ...'],
  })
  close.action((links: string[]) =>
    perform(close, async context => (await import('../actions/request.ts')).closeRequests(context, links)),
  )
}
