import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import type { Circumstances } from "./results.ts";

const variables = ["BASELINE", "CASES", "FLAGS", "ROUNDS", "SECONDS", "SUBJECTS"];

/** Records the circumstances of a run of the checkout in a folder that starts now. */
export function circumstancesOf(root: string): Circumstances {
  const settings = variables.flatMap((name) => {
    const value = process.env[name];
    if (!value) return [];
    return [`${name}=${value.includes(" ") ? `"${value}"` : value}`];
  });
  const processors = cpus();
  return {
    commit: execFileSync("git", ["describe", "--always", "--dirty", "--exclude=*"], {
      cwd: root,
      encoding: "utf8",
    }).trim(),
    date: new Date().toISOString().slice(0, 10),
    command: [...settings, "make bench"].join(" "),
    node: process.version,
    processors: `${processors.length} × ${processors[0]?.model ?? "unknown"}`,
    load: loadavg()[0] ?? 0,
  };
}
