import {
  firstWords,
  quoted,
  secondWords,
  type CompletedCommand,
  type CompletedFlag,
  type Offered,
} from "./completed-command.ts";

/** Generates a script that can be sourced, or placed in a folder of `fpath` as `_svc-gateway`. */
export const zshScript = (commands: readonly CompletedCommand[]): string =>
  `#compdef svc-gateway
_svc_gateway() {
  local -a list
  if (( CURRENT == 2 )); then
    list=(${[...firstWords(commands)].map(([word, summary]) => described(word, summary)).join(" ")})
    _describe command list
    return
  fi
  if [[ $words[2] == serve ]] && (( CURRENT == 3 )); then
    list=(${secondWords(commands, "serve")
      .map(({ name, summary }) => described(name[1] ?? "", summary))
      .join(" ")})
    _describe role list
    return
  fi
  local command=$words[2] skipped=1
  [[ $command == serve ]] && command="serve $words[3]" skipped=2
  shift $skipped words
  (( CURRENT -= skipped ))
  case $command in
${commands.map(commandCase).join("\n")}
  esac
}
# Sourced, or loaded by compinit.
if [[ $funcstack[1] == _svc-gateway ]]; then _svc_gateway "$@"; else compdef _svc_gateway svc-gateway; fi
`;

const escapeText = (text: string): string => text.replaceAll(/[\\[\]:]/g, String.raw`\$&`);
const described = (word: string, summary: string): string => quoted(`${word}:${summary.replaceAll(":", "")}`);

const action = (offered: Offered): string =>
  offered === "paths" ? "_files" : offered === "none" ? " " : `(${offered.join(" ")})`;

/**
 * The specs for `_arguments`: `--name=` takes a value from the same or the next word, `--name=-` from the same only.
 */
const specsOf = ({ spellings, meaning, offered, isSwitch }: CompletedFlag): readonly string[] =>
  spellings.map((spelling) => {
    const isBare = isSwitch && (offered === "none" || !spelling.startsWith("--"));
    const value = isBare ? "" : `${isSwitch ? "::" : ":"}value:${action(offered)}`;
    const equals = isBare || !spelling.startsWith("--") ? "" : isSwitch ? "=-" : "=";
    return quoted(`*${spelling}${equals}[${escapeText(meaning)}]${value}`);
  });

function commandCase({ name, flags, words }: CompletedCommand): string {
  const others = words === "none" ? [] : [quoted(`*:word:${action(words)}`)];
  const specs = [...flags.flatMap(specsOf), ...others];
  return `  ${quoted(name.join(" "))})\n    _arguments -S ${specs.join(" \\\n      ")} ;;`;
}
