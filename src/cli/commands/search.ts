import type { Command } from 'commander'
import type { SearchOptions } from '../actions/search.ts'
import { declare, oneOf, perform, wholeNumber } from '../command.ts'
import { searchOrders } from '../search-filters.ts'

export function declareSearch(program: Command): void {
  const search = declare(program, 'search <query...>', {
    does: 'search your files, your workspaces, and what others share with you',
    details: `All words must match, in names, folders, notes, tags or contents; the last one may be the beginning of a word. These narrow it down:
  "a phrase"   -without        name:x             type:pdf,image   size:>10mb   before:2026   after:2026-03
  by:me        by:anna         in:"Folder/Sub"    drive:me         drive:garden is:shared     tag:x
Types: pdf, image, video, audio, document, spreadsheet, presentation, archive, text, folder. Put -- before words to leave out.
A private key searches your files only, a key of a workspace only that workspace.`,
    examples: [
      'search invoice march type:pdf',
      'search \'"final report" -draft before:2026\'',
      "search budget in:'Plans 2026' drive:garden",
      'search --json --limit 500 type:image after:2026 | jq -r .results[].path',
      'search -- minutes -draft',
    ],
  })
    .option('-n, --limit <n>', 'maximum number of results', wholeNumber(1), 50)
    .addOption(oneOf('--order <order>', 'order of the results', searchOrders).default('relevance'))
  search.action((query: string[], options: SearchOptions) =>
    perform(search, async context =>
      (await import('../actions/search.ts')).search(context, query, options),
    ),
  )
}
