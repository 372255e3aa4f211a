/** nginx as a process of its own, by the configuration of this folder. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { holdPort } from "../../../../common/test/held-ports.ts";
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
  // nginx cannot be asked which free ports it has chosen.
  const [http, https] = [await holdPort(), await holdPort()];
  let child: ChildProcess | undefined;
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const ports = { httpPort: http.port, httpsPort: https.port };
    await writeFile(join(folder, "nginx.conf"), configure(folder, ports));
    child = await start(folder, http.port);
    await body(ports);
  } finally {
    if (child !== undefined && child.exitCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
    for (const held of [http, https]) held.release();
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(folder: string, port: number): Promise<ChildProcess> {
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
