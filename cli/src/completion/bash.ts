import { firstWords, quoted, secondWords, type CompletedCommand, type Offered } from "./completed-command.ts";

/** Generates a script for bash 3.2 and newer, which does not need the package bash-completion. */
export const bashScript = (commands: readonly CompletedCommand[]): string =>
  `# bash completion of svc-gateway
_svc_gateway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} IFS=$'\\n'
  local command=\${COMP_WORDS[1]} at=2 equals= flags= words= paths=
  # Bash makes a word of "=".
  if [[ $cur == = ]]; then cur= equals=1
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]} equals=1; fi
  if [[ $command == serve ]]; then command="serve \${COMP_WORDS[2]}" at=3; fi
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then words=${lines([...firstWords(commands).keys()])}
  elif (( COMP_CWORD < at )); then words=${lines(secondWords(commands, "serve").map(({ name }) => name[1] ?? ""))}
  else
    case "$equals:$command:$prev" in
${commands.flatMap(valueCases).join("\n")}
    *)
      case "$command" in
${commands.map(wordCase).join("\n")}
      esac
      [[ $cur == -* ]] && words=$flags paths= || { [[ -n $equals ]] && words= paths=; } ;;
    esac
  fi
  if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur"))
  elif [[ -n $paths ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _svc_gateway svc-gateway
`;

const lines = (words: readonly string[]): string => `$'${words.join(String.raw`\n`)}'`;

const assigned = (offered: Offered): string =>
  offered === "none" ? ":" : offered === "paths" ? "paths=1" : `words=${lines(offered)}`;

/** The cases for the value of each flag of a command. The value of a switch must follow an equals sign. */
function valueCases({ name, flags }: CompletedCommand): readonly string[] {
  return flags.flatMap(({ spellings, offered, isSwitch }) => {
    const patterns = spellings.map((one) => `${isSwitch ? "1" : "*"}:${quoted(`${name.join(" ")}:${one}`)}`);
    return isSwitch && offered === "none" ? [] : [`    ${patterns.join("|")}) ${assigned(offered)} ;;`];
  });
}

const wordCase = ({ name, flags, words }: CompletedCommand): string =>
  `      ${quoted(name.join(" "))}) flags=${lines(flags.flatMap(({ spellings }) => spellings))}; ${assigned(words)} ;;`;
