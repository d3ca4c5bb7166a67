import { Argument, type Command } from 'commander'
import { declare } from '../command.ts'

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const

export function declareCompletion(program: Command): void {
  const completion = declare(program, 'completion', {
    does: 'print what makes a shell complete commands and options',
    examples: [
      'completion bash >> ~/.bashrc',
      'completion zsh > ~/.zsh/_satchel   # in a folder of $fpath',
      'completion fish > ~/.config/fish/completions/satchel.fish',
    ],
  }).addArgument(new Argument('<shell>', 'which shell').choices(shells))
  completion.action(async (shell: string) => (await import('../actions/completion.ts')).printScript(shell))

  // What those scripts call.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: string[]) => (await import('../actions/completion.ts')).complete(program, words))
}
