/** Serves an example on free ports of this machine, and sends its requests there (config/examples/README.md). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { backendsOf, startExampleBackend } from "./backends.ts";
import { listenersOf, toLocal, toShown, type LocalPorts } from "./ports.ts";

export type ServedExample = {
  /** Runs a command of the README with bash in the root of the work tree, and returns its complete output. */
  run(command: string): Promise<string>;
  close(): Promise<void>;
};

type Closable = { close(): Promise<void> };

const root = resolve(import.meta.dirname, "../..");

/**
 * Starts the backends of an example and a gateway (svc-gateway.mjs) that serves a copy of it. If the gateway does not
 * start, everything is stopped, and the problem describes the reason in one line.
 */
export async function serveExample(folder: string, gatewayProgram: string): Promise<Result<ServedExample>> {
  const copy = mkdtempSync(join(tmpdir(), "svc-gateway-example-"));
  const started: Closable[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((one) => one.close()));
    rmSync(copy, { recursive: true, force: true });
  };
  try {
    cpSync(folder, copy, { recursive: true, dereference: true });
    const backendPorts = new Map<string, number>();
    for (const [port, name] of backendsOf(folder)) {
      const backend = await startExampleBackend(name);
      started.push(backend);
      backendPorts.set(String(port), backend.port);
    }
    const manifest = join(copy, "standalone.yaml");
    const text = readFileSync(manifest, "utf8");
    // The copy of a link is a link; writing to it would change the original.
    rmSync(manifest);
    writeFileSync(
      manifest,
      text.replaceAll(/(?<=port: )\d+/g, (port) => String(backendPorts.get(port) ?? port)),
    );
    const listeners = listenersOf(readFileSync(join(folder, "README.md"), "utf8"));
    const start = await startGateway(gatewayProgram, copy, listeners);
    if (!start.ok) {
      await close();
      return start;
    }
    const { ports, gateway } = start.value;
    started.push(gateway);
    return ok({ run: (command) => runCommand(command, ports), close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function startGateway(
  gatewayProgram: string,
  folder: string,
  listeners: readonly number[],
): Promise<Result<{ readonly ports: LocalPorts; readonly gateway: Closable }>> {
  const portMap = listeners.map((port) => `${port}=0`).join(",");
  const flags = {
    manifests: folder,
    "port-map": portMap,
    "ingress-http-public-port": "8080",
    "ingress-https-public-port": "8443",
    "admin-port": "0",
    "health-port": "0",
    "proxy-workers": "1",
    "proxy-bind-address": "127.0.0.1",
    "management-bind-address": "127.0.0.1",
    "log-format": "json",
  };
  const argv = ["serve", "standalone", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
  // Settings of the user must not affect the result.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SVC_|NODE_V8_COVERAGE)/.test(name)),
  );
  const program = spawn(process.execPath, [gatewayProgram, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const closed = once(program, "close");
  const gateway = {
    async close(): Promise<void> {
      program.kill("SIGKILL");
      await closed;
    },
  };
  const errors = collect(program.stderr);
  try {
    const ports = await portsOf(program.stdout, listeners);
    if (ports !== undefined) return ok({ ports, gateway });
  } catch (error) {
    await gateway.close();
    throw error;
  }
  await gateway.close();
  return problem(`the gateway did not start: ${reasonIn(errors()) ?? `it ended with ${program.exitCode}`}`);
}

/** Reads the log until all listeners are bound and the first snapshot is served; undefined if the log ends before. */
async function portsOf(log: Readable, listeners: readonly number[]): Promise<LocalPorts | undefined> {
  const ports = new Map<number, number>();
  let isServed = false;
  for await (const text of createInterface({ input: log })) {
    const line = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (line["local_port"] !== undefined) ports.set(Number(line["listener"]), Number(line["local_port"]));
    isServed ||= line["message"] === "snapshot published";
    if (!isServed || !listeners.every((port) => ports.has(port))) continue;
    log.resume();
    return ports;
  }
  return undefined;
}

/**
 * The line with the reason why a gateway has ended: its own message, or that of an error that Node.js prints between
 * its source and stack.
 */
function reasonIn(errors: string): string | undefined {
  const lines = errors.split("\n").map((line) => line.trim());
  const said =
    lines.find((line) => /^(svc-gateway|\w*Error): /.test(line)) ?? lines.find((line) => line !== "");
  return said?.replace(/^svc-gateway: /, "");
}

async function runCommand(command: string, ports: LocalPorts): Promise<string> {
  const program = spawn("bash", ["-c", toLocal(command, ports)], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = [collect(program.stdout), collect(program.stderr)];
  await once(program, "close");
  return toShown(`${out()}${err()}`, ports);
}

/** Returns a function for the text that a stream has produced so far. */
function collect(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (part: string) => (text += part));
  return () => text;
}
