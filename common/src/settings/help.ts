import { defaultIn, variableOf, type Flag, type Role } from "./flag.ts";
import { flagsOf } from "./settings.ts";

const introductions: Readonly<Record<Role, string>> = {
  controller: "Watches Kubernetes, writes statuses and sends routing snapshots to proxies.",
  proxy: "Serves traffic with the configuration of a controller.",
  standalone: "Serves traffic from a folder of manifests, without a cluster.",
};

/** The text of `svc-gateway serve <role> --help`. */
export function serveHelp(role: Role): string {
  const rows = flagsOf(role).map((flag) => [usage(flag), describe(flag, role)] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    `Usage: svc-gateway serve ${role} [flags]`,
    "",
    introductions[role],
    "",
    "Flags:",
    ...rows.flatMap(([left, right]) => twoColumns(left, right, width)),
    "",
    "Every flag has an environment variable: --admin-port is SVC_ADMIN_PORT. A flag wins over its variable.",
    "Lists use commas. Durations look like 1m30s, sizes like 64k.",
    "",
  ].join("\n");
}

/** The default of a flag as shown by help and documentation. */
export function defaultText(flag: Flag, role: Role): string {
  if (flag.isRequired === true) return "required";
  const value = defaultIn(flag, role);
  const isShown =
    flag.shownDefault !== undefined && !(role === "standalone" && flag.standaloneDefault !== undefined);
  if (isShown) return flag.shownDefault ?? "";
  return value === undefined ? "none" : flag.type.format(value);
}

function usage({ name, type }: Flag): string {
  return type.isSwitch === true ? `--${name}[=false]` : `--${name} <${type.name}>`;
}

function describe(flag: Flag, role: Role): string {
  const variable = flag.variable === undefined ? "" : `; variable ${variableOf(flag)}`;
  return `${flag.meaning.replaceAll("`", "")} (${defaultText(flag, role).replaceAll("`", "")}${variable})`;
}

/** The maximum width of the text, exceeded only by a single longer word. */
const maxWidth = 110;

function twoColumns(left: string, right: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of right.split(" ")) {
    if (line !== "" && width + 4 + line.length + 1 + word.length > maxWidth) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((text, index) => `  ${(index === 0 ? left : "").padEnd(width)}  ${text}`);
}
