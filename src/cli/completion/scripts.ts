import { script } from '@bomb.sh/tab'

/** The scripts call `satchel complete`; if that fails, the shell completes local files. */

/** Passes the raw line, because quotes and colons matter. The candidates are already quoted. */
const bash = `_satchel() {
    local answer
    answer=$(satchel complete --shell bash -- "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return
    compopt +o default -o nospace
    [[ -z $answer ]] || mapfile -t COMPREPLY <<<"$answer"
}
complete -o default -F _satchel satchel
`

const zsh = `#compdef satchel
_satchel() {
    local answer line value about
    local -a open plain described
    answer=$(satchel complete --shell zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)\${:-$IPREFIX$PREFIX}}" 2>/dev/null) || { _files; return }
    for line in "\${(@f)answer}"; do
        value=\${line%%$'\\t'*} about=\${line#*$'\\t'}
        if [[ -z $value ]]; then continue
        elif [[ $value == *[/:=] ]]; then open+=("$value")
        elif [[ -z $about ]]; then plain+=("$value")
        else described+=("\${value//:/\\\\:}:$about")
        fi
    done
    compadd -S '' -a open
    compadd -a plain
    (( $#described )) && _describe satchel described
}
if [[ $funcstack[1] == _satchel ]]; then _satchel; else compdef _satchel satchel; fi
`

const fish = `function __satchel_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    satchel complete --shell fish -- $words[2..-1] (__satchel_unquoted $current) 2>/dev/null
    or __fish_complete_path $current
end
function __satchel_unquoted
    string unescape -- $argv[1]; or string unescape -- "$argv[1]'"; or string unescape -- "$argv[1]\\""; or echo -- $argv[1]
end
complete -c satchel -e
complete -c satchel -f -a '(__satchel_complete)'
`

/** The script of the library. It splits words at spaces. */
function powershell(): string {
  const { log } = console
  const lines: string[] = []
  console.log = (line: string) => lines.push(line)
  try {
    script('powershell', 'satchel', 'satchel')
  } finally {
    console.log = log
  }
  return `${lines.join('\n')}\n`
}

export const scripts = { bash: () => bash, zsh: () => zsh, fish: () => fish, powershell }

export type Shell = keyof typeof scripts
