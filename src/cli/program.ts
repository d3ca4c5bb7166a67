import { Command } from 'commander'
import { wholeNumber } from './command.ts'
import { declareAccount } from './commands/account.ts'
import { declareCompletion } from './commands/completion.ts'
import { declareFiles } from './commands/files.ts'
import { declareKeys } from './commands/keys.ts'
import { declareShares } from './commands/shares.ts'
import { declareTransfers } from './commands/transfers.ts'
import { declareWorkspaces } from './commands/workspaces.ts'

const epilogue = `
Environment:
  SATCHEL_URL, SATCHEL_KEY   service and API key, before those that satchel login has stored
  SATCHEL_SESSION            session cookie, for what no key may do
  NO_COLOR                   no colours

Exit codes:
  0  done                              4  not found
  1  failed, or some of it failed      5  conflict: it exists, or is not empty
  2  used in a way that is not known   6  quota, or a limit of the plan
  3  not signed in, or not allowed     7  network, or the service cannot at the moment: try again later
                                     130  interrupted

With --json, stdout holds one JSON document and stderr, after a failure, one with "error": its code, message and exit_code.
satchel <command> --help shows examples.`

/** The commands. What they do is loaded when they run, so that help and completion are there at once. */
export function createProgram(version: string): Command {
  const program = new Command('satchel')
    .description('Stores and shares files in a Satchel.')
    .version(version, '-V, --version', 'show the version')
    .option('--json', 'one JSON document instead of text')
    .option('-v, --verbose', 'say what is done, a line a file')
    .option('--retries <n>', 'how often a call that the network has lost is tried again', wholeNumber(0), 5)
    .option('--service <url>', 'another service than that of the last login')
    .addHelpText('after', epilogue)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help shows how it is used)')
    .exitOverride()
  declareAccount(program)
  declareFiles(program)
  declareTransfers(program)
  declareShares(program)
  declareWorkspaces(program)
  declareKeys(program)
  declareCompletion(program)
  return program
}
