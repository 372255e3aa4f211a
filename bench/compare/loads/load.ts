import { spawn } from "node:child_process";
import { endTogether } from "../../processes.ts";
import type { Ports, TokenIssuer } from "../setup.ts";

/** What a load runs against. */
export type Target = { readonly ports: Ports; readonly pid: number; readonly token: TokenIssuer };

/** What came of one run of a load. */
export type Outcome = {
  /** Requests, messages, connections: what the case counts. */
  readonly units: number;
  readonly errors: number;
  /** Measured values in place of processor time, such as latencies in microseconds. */
  readonly values?: Readonly<Record<string, number>>;
};

export type Load = (target: Target, seconds: number) => Promise<Outcome>;

/** The processor of load generators and backends; subjects have the ones before it. */
export const loadCpu = 1;

/** Runs a load generator on its own processor and answers its standard output. Throws when it cannot be started. */
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

/** The number that a pattern's first group finds; 0 where it finds nothing. */
export const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
