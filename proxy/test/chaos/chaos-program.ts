/**
 * A process in which everything happens to one data plane simultaneously: every filter, backends that fail in every
 * way, clients of HTTP, gRPC, TLS, TCP and UDP that leave, snapshots that change. Writes as JSON what is left when all
 * of them have ended. Needs --expose-gc, because sessions end with the collection of their objects. Each run makes the
 * same choices; SEED=<integer> makes others.
 */
import { createHash } from "node:crypto";
import { request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { awake } from "../../src/timing/awake-clock.ts";
import { makeKey, signToken } from "../auth/tokens.ts";
import { startGateway, startHttp, type Plan } from "../integration/gateway.ts";
import { watchOpenResources } from "../integration/open-resources.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { silentPort } from "../upstream/silent-port.ts";
import { startFailing, startFailingHttp2, startGate } from "./backends.ts";
import { askOverHttp1, askOverHttp2 } from "./clients.ts";
import { socketsOn, watchHeld } from "./held.ts";
import { talkBelowHttp } from "./l4-clients.ts";
import { Choices } from "./random.ts";
import { generated, hosts, l4Ports } from "./routes.ts";

Error.stackTraceLimit = 30;
const seed = Number(process.env["SEED"] ?? 9115);
/** Separate choices for each client, snapshot and backend, so that they do not depend on the order of events. */
const choicesOf = (part: number, index: number): Choices => new Choices(seed + part * 1_000_003 + index);
const clients = 600;
const atOnce = 25;
const clientsPerSnapshot = 20;
/**
 * Longer than every time limit of a client; anything that is still held then is held indefinitely. On the clock of these
 * limits, which leaves out the pauses of a process that gets little of a busy processor, such as long collections.
 */
const patienceMs = 60_000;

const { gc: collect = () => undefined } = globalThis as { gc?: () => void };
const resources = watchOpenResources("ZLIB");
const held = watchHeld(2);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function settle(isDone: () => boolean): Promise<void> {
  const endMs = awake.nowMs + patienceMs;
  while (!isDone() && awake.nowMs < endMs) {
    collect();
    for (let index = 0; index < 20; index++) await turn();
  }
}

const mark = resources.mark();
const failing = [await startFailing(choicesOf(1, 0)), await startFailing(choicesOf(1, 1))];
const failingHttp2 = await startFailingHttp2(choicesOf(1, 2));
const gate = await startGate(choicesOf(1, 3));
const working = await startHttp((_, response) => void response.end("still here"));
const silent = await silentPort();
const places = {
  failing: failing.map(({ port }) => port),
  failingHttp2: failingHttp2.port,
  gate: gate.port,
  // Where nothing listens, and where connects hang.
  dead: [1, silent.port],
};
const key = makeKey("EC", "ES256", "one");
const tokens = [
  await signToken(key),
  await signToken(key, { exp: 1 }),
  `${await signToken(key)}x`,
  "garbage",
];
const hash = `{SHA}${createHash("sha1").update("secret").digest("base64")}`;
const snapshot = (index: number) => generated(choicesOf(2, index), places, key.public, hash);

const certificate = issueCertificate(hosts.slice(2));
const plan = (index: number): Plan => ({ ports: [working.port], certificate, resources: snapshot(index) });
const portMap = [80, 443, ...Object.values(l4Ports)].map((port) => `${port}=0`).join(",");
const gateway = await startGateway(plan(0), [
  `--port-map=${portMap}`,
  "--proxy-udp-session-timeout=1s",
  "--proxy-tunnel-idle-timeout=1s",
  "--proxy-stream-idle-timeout=1s",
  "--proxy-connect-timeout=1s",
  "--proxy-client-idle-timeout=20s",
  // A session of Node's HTTP/2 that reads no more after a fault of its client ends after twice this time.
  "--proxy-client-write-timeout=5s",
]);
const wishes = { port: gateway.port, tlsPort: gateway.tlsPort, hosts: [...hosts, "unknown.example"], tokens };
const localPort = (port: number): number => gateway.proxy.localPort(port) ?? 0;
const below = { tcp: localPort(l4Ports.tcp), tls: localPort(l4Ports.tls), udp: localPort(l4Ports.udp) };

let started = 0;
const client = async (): Promise<void> => {
  while (started < clients) {
    const choices = choicesOf(3, ++started);
    if (started % clientsPerSnapshot === 0) {
      gateway.update(plan(started / clientsPerSnapshot));
    }
    if (choices.chance(0.15)) await talkBelowHttp(choices, below);
    else await (choices.chance(0.7) ? askOverHttp1(choices, wishes) : askOverHttp2(choices, wishes));
  }
};
await Promise.all(Array.from({ length: atOnce }, client));

const { connectionsActive, udpSessions, udpSessionsActive } = gateway.metrics;
const heldNow = (): Readonly<Record<string, number>> => ({
  ...held(),
  ...Object.fromEntries(
    [80, 443, l4Ports.tcp, l4Ports.tls].map((port) => [
      `connections on ${port}`,
      connectionsActive.with({ listener: String(port) }).value,
    ]),
  ),
  "UDP sessions": udpSessionsActive.with({ listener: String(l4Ports.udp) }).value,
});
const isEmpty = (): boolean => Object.values(heldNow()).every((count) => count === 0);
await settle(isEmpty);
const heldAfter = heldNow();
const stuck = isEmpty() ? [] : socketsOn([gateway.port, gateway.tlsPort, ...Object.values(below)]);

const sent = request({ host: "127.0.0.1", port: gateway.port, agent: false, headers: { host: "a.example" } });
sent.end();
const [answer] = (await once(sent, "response")) as [IncomingMessage];
answer.resume();
await once(answer, "close");

const statuses: Record<string, number> = {};
for (const { status } of gateway.records) statuses[status] = (statuses[status] ?? 0) + 1;
await gateway.close();
for (const { close } of [...failing, failingHttp2, gate, working, silent]) await close();
await settle(() => resources.since(mark).length === 0);
process.stdout.write(
  JSON.stringify({
    held: heldAfter,
    stuck,
    stillServes: answer.statusCode,
    statuses,
    sessions: udpSessions.with({ listener: String(l4Ports.udp) }).value,
    failures: gateway.metrics.limitsReached.with({ limit: "handler-failed" }).value,
    left: resources.since(mark),
  }),
);
