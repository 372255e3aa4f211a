/** nginx as a process of its own, by the configuration of this folder. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Ports } from "../ask.ts";

/** Whether there is an nginx with the modules that the configuration needs. */
export function hasNginx(): boolean {
  const { status, stderr } = spawnSync("nginx", ["-V"], { encoding: "utf8" });
  return status === 0 && stderr.includes("http_auth_request_module") && stderr.includes("http_v2_module");
}

/** Runs the body with an nginx of this configuration, and ends nginx even if the body fails. */
export async function withNginx(
  configure: (folder: string, ports: Ports) => string,
  body: (ports: Ports) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-gateway-nginx-"));
  let child: ChildProcess | undefined;
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    for (let attempt = 0; child === undefined; attempt++) {
      const [httpPort = 0, httpsPort = 0] = await freePorts(2);
      const ports = { httpPort, httpsPort };
      await writeFile(join(folder, "nginx.conf"), configure(folder, ports));
      child = await start(folder, httpPort, attempt < 10);
      if (child !== undefined) await body(ports);
    }
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** Starts nginx. Returns undefined if another process has taken a port meanwhile and the caller `mayRepeat`. */
async function start(folder: string, port: number, mayRepeat: boolean): Promise<ChildProcess | undefined> {
  const child = spawn(
    "nginx",
    ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  while (child.exitCode === null) {
    if (await canConnect(port)) return child;
    await setTimeout(20);
  }
  if (mayRepeat && output.includes("Address already in use")) return undefined;
  throw new Error(`nginx ended with ${child.exitCode}: ${output}`);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
