/** nginx as a process of its own, serving the corpus by the configuration of this folder. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { CaseBackends } from "../backends.ts";
import type { CorpusCase } from "../cases.ts";
import type { Ports } from "../ask.ts";
import { nginxConfig } from "./config.ts";
import { sitesOf } from "./sites.ts";

/** Whether there is an nginx with the modules that the configuration needs. */
export function hasNginx(): boolean {
  const { status, stderr } = spawnSync("nginx", ["-V"], { encoding: "utf8" });
  return status === 0 && stderr.includes("http_auth_request_module") && stderr.includes("http_v2_module");
}

type Shown = { readonly one: CorpusCase; readonly backends: CaseBackends };

/** Runs the body with nginx serving these cases, and ends nginx even if the body fails. */
export async function withNginx(
  shown: readonly Shown[],
  body: (ports: Ports) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-gateway-nginx-"));
  let child: ChildProcess | undefined;
  try {
    const files = await writeSecrets(folder, shown);
    for (let attempt = 0; child === undefined; attempt++) {
      const [httpPort = 0, httpsPort = 0] = await freePorts(2);
      const sites = shown.flatMap(({ one }) => sitesOf(one));
      await writeFile(
        join(folder, "nginx.conf"),
        nginxConfig(sites, { ...files, folder, httpPort, httpsPort }),
      );
      child = await start(folder, httpPort, attempt < 10);
      if (child !== undefined) await body({ httpPort, httpsPort });
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

type Files = Omit<Parameters<typeof nginxConfig>[1], "folder" | "httpPort" | "httpsPort">;

async function writeSecrets(folder: string, shown: readonly Shown[]): Promise<Files> {
  const certificates = new Map<string, string>();
  for (const { one, backends } of shown) {
    for (const [name, data] of backends.secrets) {
      const file = join(folder, `${one.name}.${name}`);
      await writeFile(
        file,
        data["tls.crt"] === undefined ? (data["auth"] ?? "") : `${data["tls.crt"]}${data["tls.key"]}`,
      );
    }
    for (const { secretName, hosts } of one.objects.flatMap(({ spec }) => spec?.tls ?? [])) {
      for (const host of hosts) certificates.set(host, join(folder, `${one.name}.${secretName}`));
    }
  }
  const ports = new Map(shown.map(({ one, backends }) => [one.name, backends.ports]));
  return {
    addressOf: (namespace, service) => `127.0.0.1:${ports.get(namespace)?.get(service) ?? 1}`,
    certificateOf: (host) => certificates.get(host),
    usersOf: (namespace, secret) => join(folder, `${namespace}.${secret}`),
  };
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

/** Undefined where somebody else has taken a port meanwhile and the caller `mayRepeat`. */
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
