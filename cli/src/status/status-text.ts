import { alignColumns } from "../text/columns.ts";
import type { Paint } from "../text/paint.ts";
import type { StatusProblem } from "./problem.ts";
import { shortVersion, type ProxyStatus } from "./proxies.ts";
import type { ClusterStatus } from "./status.ts";

/** The maximum number of problems to list; the others are counted. */
const maxProblems = 50;

/** Formats the state of an installation as text. */
export function formatStatus(status: ClusterStatus, nowMs: number, paint: Paint): string {
  const { context, server, proxies, certificates, notes } = status;
  return [
    [`${paint.bold("Cluster")}  ${context} (${server})`],
    section("Controllers", formatControllers(status, nowMs), paint),
    proxies === undefined ? [] : section("Proxies", formatProxies(proxies, nowMs, paint), paint),
    section(
      "Certificates that end soon",
      alignColumns(certificates.map(({ secret, names, notAfter }) => [secret, notAfter, names.join(", ")])),
      paint,
    ),
    section("Problems", formatProblems(status.problems, paint), paint),
    section("Assumed or not known", notes, paint),
    [formatSummary(status)],
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

const section = (title: string, lines: readonly string[], paint: Paint): readonly string[] =>
  lines.length === 0 ? [] : [paint.bold(title), ...lines.map((line) => `  ${line}`)];

function formatControllers({ controllers }: ClusterStatus, nowMs: number): readonly string[] {
  const { namespace, name, image, replicas, leader, renewedAt } = controllers;
  const leads =
    leader === undefined
      ? "no known leader"
      : `leader ${leader}${renewedAt === undefined ? "" : `, renewed ${ageOf(renewedAt, nowMs)} ago`}`;
  return [
    `Deployment ${namespace}/${name}: ${replicas.ready} of ${replicas.wanted} ready, ${leads}`,
    `image ${image}`,
  ];
}

function formatProxies(proxies: readonly ProxyStatus[], nowMs: number, paint: Paint): readonly string[] {
  if (proxies.length === 0) return ["there are none"];
  const rows = proxies.map((proxy) => [
    `${proxy.namespace}/${proxy.name}`,
    proxy.serves,
    proxy.version === null ? "none" : shortVersion(proxy.version),
    isExpected(proxy) ? proxy.state : proxy.state.toUpperCase(),
    proxy.health ?? "unknown",
    String(proxy.restarts),
    proxy.createdAt === null ? "unknown" : ageOf(proxy.createdAt, nowMs),
  ]);
  const [head = "", ...lines] = alignColumns([
    ["POD", "SERVES", "VERSION", "STATE", "HEALTH", "RESTARTS", "AGE"],
    ...rows,
  ]);
  return [paint.dim(head), ...lines.map((line, index) => paintProxy(line, proxies[index], paint))];
}

function paintProxy(line: string, proxy: ProxyStatus | undefined, paint: Paint): string {
  if (proxy === undefined || isExpected(proxy)) return line;
  return proxy.state === "behind" ? paint.red(line) : paint.yellow(line);
}

/** Whether the state of a proxy is not a problem. */
const isExpected = ({ state }: ProxyStatus): boolean => state === "in sync" || state === "terminating";

function formatProblems(problems: readonly StatusProblem[], paint: Paint): readonly string[] {
  const more = problems.length - maxProblems;
  return [
    ...problems.slice(0, maxProblems).flatMap(({ severity, subject, message }) => {
      const word = severity === "error" ? paint.red("error  ") : paint.yellow("warning");
      return [`${word}  ${subject}`, `         ${message}`];
    }),
    ...(more > 0 ? [`and ${more} more (-o json lists all, check --live with their fields)`] : []),
  ];
}

function formatSummary({ problems, objects }: ClusterStatus): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const parts = [counted(errors, "error"), counted(problems.length - errors, "warning")];
  return `${parts.join(", ")}; ${objects.ok} of ${counted(objects.manifests, "object")} ${objects.manifests === 1 ? "is" : "are"} served as written`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** Formats the age of a time in its largest unit, like kubectl. */
function ageOf(time: string, nowMs: number): string {
  const ms = Math.max(0, nowMs - Date.parse(time));
  const [unit, size] = units.find(([, least]) => ms >= least) ?? ["s", 1000];
  return `${Math.floor(ms / size)}${unit}`;
}
