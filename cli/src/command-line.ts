import { clip } from "@svc-gateway/common/settings/arguments.ts";
import type { CommandEntry, ExitCode, Io } from "./command.ts";
import { twoColumns } from "./text/columns.ts";

/** Every command, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  {
    name: "serve standalone",
    summary: "Serve traffic from a folder of manifests.",
    load: async () => (await import("./commands/serve.ts")).serveStandalone,
  },
  {
    name: "serve controller",
    summary: "Watch Kubernetes and configure proxies.",
    load: async () => (await import("./commands/serve.ts")).serveController,
  },
  {
    name: "serve proxy",
    summary: "Serve traffic with the configuration of a controller.",
    load: async () => (await import("./commands/serve.ts")).serveProxy,
  },
  {
    name: "check",
    summary: "Report whether manifests are served as written.",
    load: async () => (await import("./commands/check.ts")).check,
  },
  {
    name: "explain",
    summary: "Show which route a request takes, and why others do not match.",
    load: async () => (await import("./commands/explain.ts")).explain,
  },
  {
    name: "status",
    summary: "Show the controllers and proxies of a cluster, and what is wrong there.",
    load: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "report",
    summary: "Show what becomes of each annotation of ingress-nginx.",
    load: async () => (await import("./commands/report.ts")).report,
  },
  {
    name: "migrate",
    summary: "Write Ingresses of ingress-nginx in this gateway's own terms.",
    load: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "completion",
    summary: "Print a script that completes command lines in bash, zsh or fish.",
    load: async () => (await import("./commands/completion.ts")).completionOf(commands),
  },
  {
    name: "version",
    summary: "Print the release.",
    load: async () => (await import("./commands/version.ts")).versionCommand,
  },
];

/** Runs a command line; `argv` has the arguments after the name of the program. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<ExitCode> {
  const entry = findCommand(argv);
  if (entry === undefined) return runWithoutCommand(argv, io);
  const command = await entry.load();
  const rest = argv.slice(entry.name.split(" ").length);
  if (asksForHelp(rest)) {
    io.out.write(command.help());
    return 0;
  }
  const result = await command.run(rest, io);
  if (result.type === "done") return result.exitCode;
  const hint = result.isUsage ? ` (see svc-gateway ${entry.name} --help)` : "";
  for (const problem of result.problems) io.err.write(`svc-gateway: ${problem}${hint}\n`);
  return 2;
}

const findCommand = (argv: readonly string[]): CommandEntry | undefined =>
  commands.find(({ name }) => name.split(" ").every((word, index) => argv[index] === word));

/** Whether there is a `--help` or `-h` before any `--`, even in place of the value of a flag. */
const asksForHelp = (argv: readonly string[]): boolean => {
  const end = argv.indexOf("--");
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => word === "--help" || word === "-h");
};

async function runWithoutCommand(argv: readonly string[], io: Io): Promise<ExitCode> {
  const [first, second] = argv;
  if (first === "help" || asksForHelp(argv)) {
    io.out.write(overview());
    return 0;
  }
  if (first === "--version") {
    return runCommandLine(["version"], io);
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
