import { Argument, type Command, Option } from 'commander'
import { declare } from '../command.ts'
import type { Shell } from '../completion/scripts.ts'

const shells: Shell[] = ['bash', 'zsh', 'fish', 'powershell']

export function declareCompletion(program: Command): void {
  const completion = declare(program, 'completion', {
    does: 'print a completion script for a shell',
    details: 'Paths and workspaces are read from the service that you are signed in to.',
    examples: [
      'completion bash >> ~/.bashrc',
      'completion zsh > ~/.zsh/_satchel   # in a folder of $fpath',
      'completion fish > ~/.config/fish/completions/satchel.fish',
    ],
  }).addArgument(new Argument('<shell>', 'which shell').choices(shells))
  completion.action(
    async (shell: Shell) =>
      void process.stdout.write((await import('../completion/scripts.ts')).scripts[shell]()),
  )

  // The shell scripts call this command.
  program
    .command('complete', { hidden: true })
    .addOption(new Option('--shell <shell>').choices(shells).default('powershell'))
    .argument('[words...]')
    .action(async (words: string[], { shell }: { shell: Shell }) =>
      (await import('../completion/complete.ts')).complete(program, shell, words),
    )
}
