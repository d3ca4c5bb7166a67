import tab, { ShellCompDirective, script } from '@bomb.sh/tab'
import register from '@bomb.sh/tab/commander'
import { Command } from 'commander'

/** Without the package bash-completion there is nothing that splits the line at blanks alone. */
const splitLine = `
declare -F _get_comp_words_by_ref >/dev/null || _get_comp_words_by_ref() {
    local line=\${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((\${#words[@]} - 1)) cur=\${words[cword]} prev=\${words[cword - 1]:-}
}
`

/** Commands whose arguments, and options whose values, are files of this computer. */
const localFiles = { commands: ['put'], options: ['-o', '--output'] }

export function printScript(shell: string): void {
  const text = printed(() => script(shell, 'satchel', 'satchel'))
  if (shell !== 'bash') return void process.stdout.write(text)
  const lenient = text
    // A script that is read once more must not complain, and where nothing is known the shell completes files.
    .replace(/^readonly (\w+=)/gm, '$1')
    .replace(/^complete -F/m, 'complete -o default -F')
  process.stdout.write(lenient + splitLine)
}

/** Answers what a shell asks while somebody types. */
export function complete(program: Command, words: string[]): void {
  const [before, last = ''] = [words.slice(0, -1), words.at(-1)]
  const [command = ''] = before.filter(word => !word.startsWith('-'))
  const isFile = localFiles.commands.includes(command) && !last.startsWith('-')
  if (isFile || localFiles.options.includes(before.at(-1) ?? ''))
    return void process.stdout.write(`:${ShellCompDirective.ShellCompDirectiveDefault}\n`)

  // The library adds commands of its own to what it is given.
  const copy = new Command(program.name())
  for (const option of program.options) copy.addOption(option)
  for (const command of program.commands)
    if (!['complete', 'completion'].includes(command.name())) copy.addCommand(command)
  register(copy, { completionCommandName: 'completion' })
  tab.parse(words)
}

/** What a function prints that can only print. */
function printed(print: () => void): string {
  const { log } = console
  const lines: string[] = []
  console.log = (line: string) => lines.push(line)
  try {
    print()
  } finally {
    console.log = log
  }
  return `${lines.join('\n')}\n`
}
