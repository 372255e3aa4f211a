import { firstWords, secondWords, type CompletedCommand, type Offered } from "./completed-command.ts";

/** Generates a script for fish 3. */
export const fishScript = (commands: readonly CompletedCommand[]): string =>
  [
    "# fish completion of svc-gateway",
    "function __svc_gateway_is",
    "    set -l words (commandline -opc)",
    "    set -l last (math 1 + (count $argv))",
    '    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"',
    "end",
    "function __svc_gateway_words",
    "    test (count (commandline -opc)) -eq $argv[1]",
    "end",
    "complete -c svc-gateway -f",
    ...[...firstWords(commands)].map(([word, summary]) =>
      line("__svc_gateway_words 1", ["-a", word], summary),
    ),
    ...secondWords(commands, "serve").map(({ name, summary }) =>
      line("__svc_gateway_words 2; and __svc_gateway_is serve", ["-a", name[1] ?? ""], summary),
    ),
    ...commands.flatMap(linesOf),
    "",
  ].join("\n");

const quoted = (text: string): string =>
  `'${text.replaceAll("\\", String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;

const line = (condition: string, options: readonly string[], meaning?: string): string =>
  [
    `complete -c svc-gateway -n ${quoted(condition)}`,
    ...options,
    ...(meaning === undefined ? [] : ["-d", quoted(meaning)]),
  ].join(" ");

const valuesOf = (offered: Offered): readonly string[] =>
  offered === "paths" ? ["-r", "-F"] : offered === "none" ? ["-x"] : ["-x", "-a", quoted(offered.join(" "))];

function linesOf({ name, flags, words }: CompletedCommand): readonly string[] {
  const condition = `__svc_gateway_is ${name.join(" ")}`;
  const ofWords = words === "paths" ? ["-F"] : words === "none" ? undefined : ["-a", quoted(words.join(" "))];
  return [
    ...flags.map(({ spellings, meaning, offered, isSwitch }) => {
      const spelled = spellings.flatMap((one) =>
        one.startsWith("--") ? ["-l", one.slice(2)] : ["-s", one.slice(1)],
      );
      return line(condition, [...spelled, ...(isSwitch ? [] : valuesOf(offered))], meaning);
    }),
    ...(ofWords === undefined ? [] : [line(condition, ofWords)]),
  ];
}
