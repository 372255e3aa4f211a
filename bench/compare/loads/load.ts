import { spawn } from "node:child_process";
import { endTogether } from "../../processes.ts";
import type { Ports, TokenIssuer } from "../setup.ts";

/** The subject that a load runs against. */
export type Target = { readonly ports: Ports; readonly pid: number; readonly token: TokenIssuer };

/** The result of one run of a load. */
export type Outcome = {
  /** The number of requests, messages or connections: the unit of the case. */
  readonly units: number;
  readonly errors: number;
  /** Measured values that replace processor time, such as latencies in microseconds. */
  readonly values?: Readonly<Record<string, number>>;
};

export type Load = (target: Target, seconds: number) => Promise<Outcome>;

/** The processor of load generators and backends; subjects run on the others. */
export const loadCpu = 1;

/** Runs a load generator on its own processor and returns its standard output. Rejects when it cannot be started. */
export function runPinned(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = endTogether(
      spawn("taskset", ["-c", String(loadCpu), command, ...args], { stdio: ["ignore", "pipe", "inherit"] }),
    );
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
}

/** The number in the first group of a pattern; 0 without a match. */
export const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
