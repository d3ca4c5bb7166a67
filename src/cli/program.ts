import { Command } from 'commander'
import { wholeNumber } from './command.ts'
import { declareAccount } from './commands/account.ts'
import { declareCompletion } from './commands/completion.ts'
import { declareEvents } from './commands/events.ts'
import { declareFiles } from './commands/files.ts'
import { declareKeys } from './commands/keys.ts'
import { declareMcp } from './commands/mcp.ts'
import { declareMounts } from './commands/mounts.ts'
import { declareRequests } from './commands/requests.ts'
import { declareSearch } from './commands/search.ts'
import { declareShares } from './commands/shares.ts'
import { declareTags } from './commands/tags.ts'
import { declareTransfers } from './commands/transfers.ts'
import { declareTrash } from './commands/trash.ts'
import { declareVersions } from './commands/versions.ts'
import { declareWorkspaces } from './commands/workspaces.ts'

const epilogue = `
Environment:
  SATCHEL_URL, SATCHEL_KEY   service and API key, instead of those stored by satchel login
  SATCHEL_SESSION            session cookie, for operations that no key may use
  NO_COLOR                   disables colours

Exit codes:
  0  done                              4  not found
  1  failed, or partly failed          5  conflict: it exists, or is not empty
  2  wrong usage                       6  quota, or a limit of the plan
  3  not signed in, or not allowed     7  network error, or the service is unavailable: try again later
                                     130  interrupted

With --json, stdout has one JSON document. After a failure, stderr has one with "error": its code, message and exit_code.
satchel <command> --help shows examples.`

/** All commands. Their actions load on demand, so that help and completion start fast. */
export function createProgram(version: string): Command {
  const program = new Command('satchel')
    .description('Stores and shares files in a Satchel.')
    .version(version, '-V, --version', 'show the version')
    .option('--json', 'print one JSON document instead of text')
    .option('-v, --verbose', 'log one line per file')
    .option(
      '--retries <n>',
      'how often a request is retried after a network error',
      wholeNumber(0),
      5,
    )
    .option('--service <url>', 'use this service instead of the one of the last login')
    .addHelpText('after', epilogue)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(see --help)')
    .exitOverride()
  declareAccount(program)
  declareFiles(program)
  declareSearch(program)
  declareTags(program)
  declareTrash(program)
  declareEvents(program)
  declareVersions(program)
  declareTransfers(program)
  declareMounts(program)
  declareMcp(program)
  declareShares(program)
  declareRequests(program)
  declareWorkspaces(program)
  declareKeys(program)
  declareCompletion(program)
  return program
}
