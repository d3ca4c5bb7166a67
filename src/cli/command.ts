import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Answer, type Context, type GlobalOptions, run } from './run.ts'

export interface Declaration {
  /** One line of help. */
  does: string
  /** Further help text. */
  details?: string
  /** Example command lines. Those without `satchel` get it as a prefix. */
  examples: string[]
}

/** Declares a command, with name and arguments in the syntax of commander. */
export function declare(
  parent: Command,
  usage: string,
  { does, details, examples }: Declaration,
): Command {
  const lines = examples
    .map(example => `  $ ${/\bsatchel /.test(example) ? '' : 'satchel '}${example}`)
    .join('\n')
  return parent
    .command(usage)
    .description(does)
    .allowExcessArguments(false)
    .addHelpText('after', `${details ? `\n${details}\n` : ''}\nExamples:\n${lines}`)
}

/** A command that only groups its subcommands. */
export const group = (parent: Command, name: string, does: string): Command =>
  parent.command(name).description(does).helpCommand(false)

/** Runs the action of a command with the global options. */
export function perform(
  command: Command,
  work: (context: Context) => Promise<Answer | undefined>,
): Promise<void> {
  return run(command.optsWithGlobals<GlobalOptions>(), work)
}

/** Collects the values of a repeatable option. */
export const several = (value: string, before: string[] = []): string[] => [...before, value]

export const oneOf = (flags: string, does: string, choices: readonly string[]): Option =>
  new Option(flags, does).choices(choices)

/** @param least the smallest number allowed */
export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    if (/^(0|[1-9]\d{0,8})$/.test(text) && Number(text) >= least) return Number(text)
    throw new InvalidArgumentError(
      `Write a whole number from ${least} to 999999999, in digits without leading zeros, such as 20.`,
    )
  }
