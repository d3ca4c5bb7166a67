import { ShellCompDirective } from '@bomb.sh/tab'
import type { Argument, Command, Option } from 'commander'
import { isMarkedRemote } from '../path.ts'
import { patienceOf } from '../patience.ts'
import { searchFilters } from '../search-filters.ts'
import { open } from '../service.ts'
import { plain } from '../text.ts'
import { quoteForBash, readBashLine } from './bash-line.ts'
import { remotePaths, tagNames, trashedPaths, workspaceNames } from './remote.ts'
import type { Shell } from './scripts.ts'

/** A possible completion. */
interface Candidate {
  value: string
  about: string
}

/** Completion must not keep the user waiting. */
const LIMIT_MS = 2000

/** Commands that only accept paths of own files. */
const ownOnly = ['note', 'share', 'quick-share']

/** Prints the candidates for a shell, in its format. Failures print nothing. */
export async function complete(program: Command, shell: Shell, given: string[]): Promise<void> {
  const [first = '', breaks = ''] = given
  const line = shell === 'bash' ? readBashLine(first, breaks) : undefined
  const words = line ? line.words.slice(1) : given
  const found = line?.isRedirect ? null : await candidatesFor(program, words)
  if (shell === 'powershell') {
    const { ShellCompDirectiveDefault: files, ShellCompDirectiveNoFileComp: none } =
      ShellCompDirective
    return write([...(found ?? []).map(tabbed), `:${found ? none : files}`])
  }
  if (!found) process.exitCode = 1
  else if (!line) write(found.map(tabbed))
  else {
    const { kept, quote } = line
    const space = ({ value }: Candidate) => (quote || isOpen(value) ? '' : ' ')
    write(found.map(each => quoteForBash(each.value.slice(kept.length), quote) + space(each)))
  }
}

/** These values can continue, so no space follows. */
const isOpen = (value: string): boolean => /[/:=]$/.test(value)

const tabbed = ({ value, about }: Candidate): string => `${value}\t${about}`

const write = (lines: string[]): void =>
  void process.stdout.write(lines.map(line => `${line}\n`).join(''))

/** Candidates for the last word; null to complete local files. */
async function candidatesFor(program: Command, words: string[]): Promise<Candidate[] | null> {
  const last = words.at(-1) ?? ''
  const { command, wanted, count, areOptionsOver, service } = read(program, words.slice(0, -1))
  const [, flag = '', value] = areOptionsOver ? [] : (/^(--[\w-]+=)(.*)$/s.exec(last) ?? [])
  const inline = value === undefined ? undefined : optionOf(command, flag.slice(0, -1))
  const word = inline ? (value ?? '') : last
  const subject = inline ?? wanted
  const isFlag = !areOptionsOver && last.startsWith('-') && !(subject && 'flags' in subject)
  const commands =
    count === 0 && !areOptionsOver ? command.createHelp().visibleCommands(command) : []
  const found = isFlag
    ? optionsOf(command).map(({ long, short, description }) => ({
        value: long ?? short ?? '',
        about: description,
      }))
    : commands.length > 0 && !wanted
      ? commands.map(each => ({ value: each.name(), about: each.description() }))
      : await valuesOf(command, subject, word, service)
  if (!found) return null
  return (
    found
      .filter(each => each.value.startsWith(word))
      // A name with control characters could turn into several candidates.
      .filter(each => plain(each.value) === each.value)
      .map(each => ({ ...each, value: inline ? flag + each.value : each.value }))
  )
}

interface Position {
  command: Command
  /** The option value or argument that comes next. */
  wanted: Option | Argument | undefined
  /** Number of arguments before it. */
  count: number
  areOptionsOver: boolean
  /** The value of --service. */
  service: string | undefined
}

/** Parses the words before the cursor like commander. */
function read(program: Command, words: string[]): Position {
  const at: Position = {
    command: program,
    wanted: undefined,
    count: 0,
    areOptionsOver: false,
    service: undefined,
  }
  for (const word of words) {
    if (at.wanted) {
      if (at.wanted.name() === 'service') at.service = word
      at.wanted = undefined
    } else if (at.areOptionsOver || word === '-' || !word.startsWith('-')) {
      const inner =
        at.count === 0 ? at.command.commands.find(command => command.name() === word) : undefined
      if (inner) at.command = inner
      else at.count++
    } else if (word === '--') at.areOptionsOver = true
    else {
      const option = optionOf(at.command, word)
      if (option && takesValue(option)) at.wanted = option
    }
  }
  const args = at.command.registeredArguments
  at.wanted ??= args[at.count] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined)
  return at
}

const takesValue = (option: Option): boolean => option.required || option.optional

const optionsOf = (command: Command): Option[] => {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}

const optionOf = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find(o => o.long === word || o.short === word)

/**
 * Values for an option or argument, by its name in the usage line; null to complete local files.
 */
async function valuesOf(
  command: Command,
  wanted: Option | Argument | undefined,
  word: string,
  named: string | undefined,
): Promise<Candidate[] | null> {
  if (!wanted) return []
  if (wanted.argChoices) return wanted.argChoices.map(value => ({ value, about: '' }))
  const name = 'flags' in wanted ? /<([\w-]+)>/.exec(wanted.flags)?.[1] : wanted.name()
  const isSide = name === 'source' || name === 'target'
  if (name === 'file' || (isSide && !isMarkedRemote(word))) return null
  const signal = AbortSignal.timeout(LIMIT_MS)
  const service = () =>
    open({ service: named, patience: patienceOf({ signal, retries: 0, notice() {} }) })
  if (name === 'query')
    return searchFilters(word, () =>
      service()
        .then(workspaceNames)
        .catch(() => []),
    )
  const remote = async () => {
    if (name === 'workspace') return workspaceNames(await service())
    if (name === 'tag') return tagNames(await service())
    if (name === 'item') return trashedPaths(await service(), word)
    if (name !== 'path' && name !== 'folder' && !isSide) return []
    return remotePaths(await service(), word, {
      foldersOnly: name === 'folder' || isSide,
      ownOnly: ownOnly.includes(command.name()),
    })
  }
  return (await remote().catch(() => [])).map(value => ({ value, about: '' }))
}
