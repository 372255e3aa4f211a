import { clip } from "@svc-gateway/common/settings/arguments.ts";
import type { Command, ExitCode, Io } from "./command.ts";
import { check } from "./commands/check.ts";
import { explain } from "./commands/explain.ts";
import { migrate } from "./commands/migrate.ts";
import { report } from "./commands/report.ts";
import { serveController, serveProxy, serveStandalone } from "./commands/serve.ts";
import { status } from "./commands/status.ts";
import { versionCommand } from "./commands/version.ts";
import { twoColumns } from "./text/columns.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  serveStandalone,
  serveController,
  serveProxy,
  check,
  explain,
  status,
  report,
  migrate,
  versionCommand,
];

/** Runs a command line; `argv` is what follows the name of the program. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<ExitCode> {
  const command = findCommand(argv);
  if (command === undefined) return runWithoutCommand(argv, io);
  const rest = argv.slice(command.name.split(" ").length);
  if (asksForHelp(rest)) {
    io.out.write(command.help());
    return 0;
  }
  const result = await command.run(rest, io);
  if (result.type === "done") return result.exitCode;
  const hint = result.isUsage ? ` (see svc-gateway ${command.name} --help)` : "";
  for (const problem of result.problems) io.err.write(`svc-gateway: ${problem}${hint}\n`);
  return 2;
}

const findCommand = (argv: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, index) => argv[index] === word));

/** True for `--help` and `-h` before a `--`, even where a flag's value is expected. */
const asksForHelp = (argv: readonly string[]): boolean => {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => word === "--help" || word === "-h");
};

function runWithoutCommand(argv: readonly string[], io: Io): ExitCode {
  const [first, second] = argv;
  if (first === "help" || asksForHelp(argv)) {
    io.out.write(overview());
    return 0;
  }
  if (first === "--version") {
    void versionCommand.run([], io);
    return 0;
  }
  io.err.write(`svc-gateway: ${describeUsageError(first, second)} (see svc-gateway --help)\n`);
  return 2;
}

function describeUsageError(first: string | undefined, second: string | undefined): string {
  const known = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))].join(", ");
  if (first === undefined) return `expected a command: ${known}`;
  if (first.startsWith("-")) return `${clip(first)}: unknown flag, expected a command: ${known}`;
  if (first !== "serve") return `unknown command "${clip(first)}", expected one of ${known}`;
  const roles = "controller, proxy or standalone";
  return second === undefined || second.startsWith("-")
    ? `serve: expected a role: ${roles}`
    : `serve: unknown role "${clip(second)}", expected ${roles}`;
}

/** The text of `svc-gateway --help`. */
const overview = (): string =>
  [
    "Usage: svc-gateway <command> [flags]",
    "",
    "An Ingress controller and Gateway API implementation.",
    "",
    "Commands:",
    ...twoColumns(commands.map(({ name, summary }) => [name, summary])),
    "",
    'Run "svc-gateway <command> --help" for the flags of a command.',
    "",
  ].join("\n");
