import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endTogether, residentKiB } from "../../processes.ts";
import { benchHost, benchPath } from "../setup.ts";
import { loadCpu, runPinned, type Load, type Outcome } from "./load.ts";

const program = join(import.meta.dirname, "clients.ts");

/**
 * TLS handshakes of eight clients with an ECDSA certificate and X25519, without any request: full ones of TLS 1.3,
 * resumed ones of TLS 1.2.
 */
export function handshakes(kind: "full-handshakes" | "resumed-handshakes"): Load {
  return ({ ports }, seconds) => run(kind, { port: ports.https, seconds, count: 8 });
}

/** Echoed messages of 64 bytes on 64 connections. */
export const websocketMessages: Load = ({ ports }, seconds) =>
  run("websocket", { port: ports.http, seconds, count: 64 });

type Options = { readonly port: number; readonly seconds: number; readonly count: number };

const argumentsOf = (kind: string, options: Options): readonly string[] => [
  program,
  kind,
  JSON.stringify({ host: benchHost, path: benchPath, ...options }),
];

async function run(kind: string, options: Options): Promise<Outcome> {
  const text = await runPinned(process.execPath, argumentsOf(kind, options));
  return text === "" ? { units: 0, errors: 1 } : (JSON.parse(text) as Outcome);
}

/** The memory in KiB that each of `count` connections occupies when it is idle after one request. */
export function idleConnections(secure: boolean, count: number): Load {
  return async ({ ports, pid }) => {
    const before = residentKiB(pid);
    const options = { port: secure ? ports.https : ports.http, seconds: 0, count };
    const args = [
      "-c",
      String(loadCpu),
      process.execPath,
      ...argumentsOf(secure ? "idle-tls" : "idle", options),
    ];
    const child = endTogether(spawn("taskset", args, { stdio: ["ignore", "pipe", "inherit"] }));
    try {
      const ended = once(child, "close").then(() => undefined);
      const line = await Promise.race([once(child.stdout, "data") as Promise<[Buffer]>, ended]);
      if (line === undefined) return { units: 0, errors: 1 };
      const { units, errors } = JSON.parse(String(line[0])) as Outcome;
      // Garbage collectors return memory to the system a little later.
      await delay(2000);
      return { units, errors, values: { "KiB each": (residentKiB(pid) - before) / count } };
    } finally {
      if (child.kill("SIGKILL")) await once(child, "close");
    }
  };
}
