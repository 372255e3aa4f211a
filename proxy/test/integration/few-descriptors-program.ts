/**
 * A process with a data plane for TCP and UDP, whose backends on loopback have the ports in `PORTS` (TCP, UDP). Writes
 * a line with its own ports, and for each line that it reads, a line with its numbers of sessions and dropped
 * datagrams.
 */
import { createInterface } from "node:readline";
import { l4Route, startL4 } from "./l4.ts";

const [tcp = 0, udp = 0] = (process.env["PORTS"] ?? "").split(",").map(Number);
const gateway = await startL4({
  tcp: l4Route(["ns/db/5432", 1]),
  udp: l4Route(["ns/dns/53/udp", 1]),
  endpoints: { "ns/db/5432": [tcp], "ns/dns/53/udp": [udp] },
});
console.log(JSON.stringify({ tcp: gateway.tcpPort, udp: gateway.udpPort }));
for await (const _ of createInterface({ input: process.stdin })) {
  const labels = { listener: "5300" };
  const { udpSessionsActive, udpDatagramsDropped } = gateway.metrics;
  console.log(
    JSON.stringify({
      sessions: udpSessionsActive.with(labels).value,
      refused: udpDatagramsDropped.with({ ...labels, reason: "session-limit" }).value,
      failed: udpDatagramsDropped.with({ ...labels, reason: "error" }).value,
    }),
  );
}
await gateway.close();
