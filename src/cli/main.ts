#!/usr/bin/env node
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { CommanderError } from 'commander'
import manifest from '#package.json' with { type: 'json' }
import { readCertificates } from '../config/certificates.ts'
import { readEnvironment } from './config.ts'
import { exits } from './failure.ts'
import { createProgram } from './program.ts'
import { jsonLine, plain } from './text.ts'

// A reader that closes the pipe early, such as `head`, is not an error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`error: ${error.message}\n`)
    process.exit(exits.failed)
  })

const { caFile } = readEnvironment()
if (caFile)
  try {
    setDefaultCACertificates([...getCACertificates('default'), ...readCertificates(caFile)])
  } catch (error) {
    process.stderr.write(
      `error: SATCHEL_CA_FILE: ${error instanceof Error ? error.message : error}\n`,
    )
    process.exit(exits.usage)
  }

const words = process.argv.slice(2)
const end = words.indexOf('--')
const wantsJson = words.slice(0, end < 0 ? undefined : end).includes('--json')

const program = createProgram(manifest.version)
let wrong = ''
configure(program)

// Not awaited: the main script of a single executable is a CommonJS module.
program.parseAsync().catch(error => {
  if (!(error instanceof CommanderError)) throw error
  // Commander exits with 1 for invalid usage, and with 0 for requested help.
  process.exitCode = error.exitCode && exits.usage
  if (error.exitCode && wantsJson)
    process.stderr.write(
      jsonLine({
        error: {
          code: 'USAGE',
          message: sentenceOf(wrong || error.message),
          exitCode: exits.usage,
        },
      }),
    )
})

/** Captures usage errors for JSON output. Commander configures output per command. */
function configure(command: typeof program): void {
  command.configureOutput({
    outputError: (text, write) => {
      wrong ||= text
      if (!wantsJson) write(text.replace(/[^\n]+/g, plain))
    },
    ...(wantsJson ? { writeErr: () => {} } : {}),
  })
  for (const below of command.commands) configure(below as typeof program)
}

function sentenceOf(text: string): string {
  return plain(text.replace(/^error: /, '').split('\n')[0] ?? '')
}
