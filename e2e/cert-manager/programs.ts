/** The programs that obtain certificates, as processes of this machine. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { root } from "../support/provider.ts";

const logs = join(root, ".cache/e2e/cert-manager");

export type Programs = {
  /** Starts a program. Its output is written to a file under .cache/e2e/cert-manager. */
  start(path: string, args: readonly string[], env?: Readonly<Record<string, string>>): void;
  /** Fails when a program has ended. */
  check(): void;
  /** Ends all programs. */
  stop(): Promise<void>;
};

/** Programs do not inherit the environment, because a proxy that it specifies would receive their requests. */
export function createPrograms(): Programs {
  const started = new Map<string, ChildProcess>();
  return {
    start(path, args, env = {}) {
      mkdirSync(logs, { recursive: true });
      const name = path.slice(path.lastIndexOf("/") + 1);
      const log = openSync(join(logs, `${name}.log`), "w");
      started.set(name, spawn(path, args, { env, cwd: logs, stdio: ["ignore", log, log] }));
      closeSync(log);
    },
    check() {
      for (const [name, { exitCode, signalCode }] of started) {
        if (exitCode !== null || signalCode !== null) {
          throw new Error(`${name} has ended (${exitCode ?? signalCode}): see ${join(logs, `${name}.log`)}`);
        }
      }
    },
    async stop() {
      const running = [...started.values()].filter(
        ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
      );
      const ended = running.map((child) => once(child, "exit"));
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(ended);
    },
  };
}

/** Ports of the loopback interface on which no process listens. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
