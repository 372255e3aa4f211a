import { type Flag } from "../common/src/settings/flag.ts";
import { flags } from "../common/src/settings/flags.ts";
import { defaultText } from "../common/src/settings/help.ts";

/** Generates docs/reference/flags.md from the declared flags. */
export function flagsPage(): string {
  return `# Flags

<!-- Written by scripts/generate-docs.ts from common/src/settings; change it there. -->

\`svc-gateway serve controller\`, \`serve proxy\` and \`serve standalone\` take these flags. \`serve\` without a role is an
error.

- A flag is written \`--flag value\` or \`--flag=value\`. A boolean flag without a value is true.
- Each flag has an environment variable, which is read when the flag is not given: \`SVC_\` and the name in capitals with \`_\` in place of \`-\`,
  as \`SVC_ADMIN_PORT\` of \`--admin-port\`, unless its meaning names another one. An empty variable counts as unset, except
  for lists and selectors, where it is an empty list.
- An unknown flag, a repeated flag, and a missing or invalid value end the process with one line on standard error and
  exit code 2. An unknown variable that begins with \`SVC_\` is logged as a warning. Variables of flags of another role are
  ignored, and so are those that Kubernetes sets for Services whose name begins with \`svc-\`.
- Durations are one or more numbers with a unit (\`ns\`, \`us\`, \`ms\`, \`s\`, \`m\`, \`h\`), such as \`1m30s\` or \`1.5s\`, at most \`24h\` unless noted otherwise. A timeout of \`0\` is disabled.
- Sizes are bytes with an optional \`k\`, \`m\` or \`g\` (powers of 1024). Lists use commas.

The column "For" names the roles: C controller, P proxy, S standalone.

| Flag | Meaning | For | Value | Default |
| --- | --- | --- | --- | --- |
${(flags as readonly Flag[]).map(row).join("\n")}
`;
}

function row(flag: Flag): string {
  const cells = [
    code(`--${flag.name}`),
    flag.meaning + variableText(flag),
    flag.roles.map((role) => role[0]?.toUpperCase()).join(" "),
    code(flag.type.name),
    defaultCell(flag),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The environment variables of a flag that the rule at the head of the page does not cover. */
function variableText({ variable, fallbackVariable }: Flag): string {
  if (variable !== undefined) return ` Variable: ${code(variable)}.`;
  return fallbackVariable === undefined ? "" : ` Variable, besides its own: ${code(fallbackVariable)}.`;
}

function defaultCell(flag: Flag): string {
  const general = asCell(flag, defaultText(flag, flag.roles[0] ?? "proxy"));
  if (flag.standaloneDefault === undefined) return general;
  return `${general}; S ${asCell(flag, defaultText(flag, "standalone"))}`;
}

/** Formats values as code, and explanatory words as text. */
function asCell(flag: Flag, text: string): string {
  const isWord = text === "" || text === "required" || text === "none" || text === flag.shownDefault;
  return isWord && !/^\d+$/.test(text) ? text : code(text);
}

const code = (text: string): string => `\`${text}\``;
