/**
 * `make run`: serves config/examples/quickstart with two echo backends and prints how to send the first requests, or
 * serves a given folder, with its backends if it is another example. When interrupted, ends all programs that it
 * started.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { textOf } from "../common/src/values/errors.ts";
import { startEchoBackend } from "./echo/backend.ts";
import type { Listening } from "./echo/listen.ts";
import { backendsOf, startExampleBackend } from "./examples/backends.ts";
import { describeRunPorts, portsOfRun } from "./run-ports.ts";
import { writeExampleSecret } from "./quickstart/secret.ts";

const root = resolve(import.meta.dirname, "..");
const quickstart = join(root, "config/examples/quickstart");
const given = process.argv[2];
const folder = given === undefined ? quickstart : resolve(given);

/** The ports of config/examples/quickstart/backends.yaml. */
const backendPorts = { "echo-a": 9101, "echo-b": 9102 };

// If the variables are invalid, the gateway reports them and ends.
const ports = portsOfRun(folder, process.env);
const backends: Listening[] = [];
process.exitCode = await main();

async function main(): Promise<number> {
  if (!(await (given === undefined ? prepareQuickstart() : prepareExample()))) return 1;
  const gateway = spawn(
    process.execPath,
    [join(root, "dist/svc-gateway.mjs"), "serve", "standalone", "--manifests", folder],
    {
      stdio: "inherit",
      // Variables of the user take precedence.
      env: {
        // There is no load balancer that needs time to notice the shutdown.
        SVC_PROXY_SHUTDOWN_GRACE_PERIOD: "1s",
        ...process.env,
      },
    },
  );
  const ended = once(gateway, "close").then(([code]) => (code as number | null) ?? 1);
  // Ctrl-C also reaches the gateway, which belongs to the same terminal; a signal to this process is forwarded.
  process.on("SIGINT", () => undefined);
  process.on("SIGTERM", () => gateway.kill("SIGTERM"));
  const isReady = await Promise.race([waitUntilReady(), ended.then(() => false)]);
  if (isReady) process.stdout.write(given === undefined ? quickstartLines() : folderLines());
  const code = await ended;
  await closeBackends();
  return code;
}

async function prepareQuickstart(): Promise<boolean> {
  await writeExampleSecret(join(quickstart, "generated"), ["echo.example.com", "grpc.example.com"]);
  return startBackends(Object.entries(backendPorts), (name, port) => startEchoBackend({ name, port }));
}

/** Starts the backends of an example (config/examples/README.md); other folders do not have any. */
function prepareExample(): Promise<boolean> {
  const byPort = [...backendsOf(folder)].map(([port, name]) => [name, port] as const);
  return startBackends(byPort, startExampleBackend);
}

async function startBackends(
  wanted: readonly (readonly [name: string, port: number])[],
  start: (name: string, port: number) => Promise<Listening>,
): Promise<boolean> {
  for (const [name, port] of wanted) {
    try {
      backends.push(await start(name, port));
    } catch (error) {
      const why = textOf(error);
      process.stderr.write(`the example backend ${name} cannot listen on port ${port}: ${why}\n`);
      await closeBackends();
      return false;
    }
  }
  return true;
}

async function closeBackends(): Promise<void> {
  await Promise.all(backends.map((backend) => backend.close()));
}

/** Waits until the health port reports ready; the race in main ends the wait when the gateway ends. */
async function waitUntilReady(): Promise<boolean> {
  if (ports?.health === undefined) return ports !== undefined;
  for (;;) {
    const response = await fetch(`${managementUrl(ports.health)}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return true;
    await delay(50, undefined, { ref: false });
  }
}

/** The URL of the admin port or the health port. */
function managementUrl(port: number): string {
  const host = ports?.management ?? "127.0.0.1";
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function quickstartLines(): string {
  const ca = join(shownPath(quickstart), "generated/ca.crt");
  const node = "scripts/node scripts/echo";
  // Only the log shows a free port.
  const http = String(ports?.http ?? "<port>");
  const https = String(ports?.https ?? "<port>");
  return `
The gateway serves ${shownPath(quickstart)}. Try, in another terminal of this folder:

  HTTP        curl -H 'Host: echo.example.com' http://127.0.0.1:${http}/
              curl -H 'Host: echo.example.com' http://127.0.0.1:${http}/b
  HTTPS       curl --cacert ${ca} --resolve echo.example.com:${https}:127.0.0.1 https://echo.example.com:${https}/
  HTTP/2      curl --http2 --cacert ${ca} --resolve echo.example.com:${https}:127.0.0.1 https://echo.example.com:${https}/
              curl --http2-prior-knowledge -H 'Host: echo.example.com' http://127.0.0.1:${http}/
  gRPC        ${node}/grpc-client.ts --authority grpc.example.com http://127.0.0.1:${http} one two
              ${node}/grpc-client.ts --ca ${ca} --authority grpc.example.com https://127.0.0.1:${https} one two
              grpcurl -plaintext -proto scripts/echo/echo.proto -authority grpc.example.com -d '{"text":"one"}' 127.0.0.1:${http} echo.v1.Echo/Say
  WebSocket   ${node}/websocket-client.ts --host echo.example.com ws://127.0.0.1:${http}/ one two
              curl -i -N -m 2 -H 'Host: echo.example.com' -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' http://127.0.0.1:${http}/

Edit a file in that folder and ask again: changes are followed.
${adminLines()}`;
}

/** The path relative to the working directory, if that is shorter. */
function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === "" ? "." : short.startsWith("..") ? path : short;
}

function folderLines(): string {
  return `
The gateway serves ${shownPath(folder)} ${describeRunPorts(ports ?? { http: undefined, https: undefined })}, Gateways on those of their
listeners. Changes are followed.

  dist/svc-gateway check ${shownPath(folder)}
${backends.length === 0 ? "" : `\n  The requests to try are in ${join(shownPath(folder), "README.md")}.\n`}${adminLines()}`;
}

function adminLines(): string {
  const lines = [
    ...(ports?.admin === undefined ? [] : [`  Metrics     curl ${managementUrl(ports.admin)}/metrics`]),
    ...(ports?.health === undefined ? [] : [`  Health      curl ${managementUrl(ports.health)}/readyz`]),
  ];
  return `
${lines.join("\n")}

Ctrl-C ends the gateway once its requests have ended; a second Ctrl-C ends it at once.

`;
}
