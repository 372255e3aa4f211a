/**
 * A process that uses up its descriptors and then connects to the port `BACKEND` on loopback, once with idle
 * connections that each hold a descriptor, and once without. Writes the outcomes as one line.
 */
import { closeSync, openSync } from "node:fs";
import { connectEndpoint } from "../../src/upstream/connect/connect-endpoint.ts";
import { createResolver } from "../../src/upstream/resolver.ts";

const port = Number(process.env["BACKEND"]);
const resolver = createResolver();
const held: number[] = [];
const takeAll = (): void => {
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch {
    // No descriptor is left.
  }
};
const closeOldest = (): boolean => {
  const descriptor = held.shift();
  if (descriptor === undefined) return false;
  closeSync(descriptor);
  return true;
};
const outcomeWith = (close: () => boolean): Promise<string> =>
  new Promise((resolve) => {
    takeAll();
    connectEndpoint(
      { host: "127.0.0.1", port, address: `127.0.0.1:${port}` },
      { connectTimeoutMs: 0, resolver, idlePool: { closeOldest: close } },
      (connected) => resolve(connected.ok ? "connected" : connected.error.text),
    );
  });
const outcomes = [await outcomeWith(closeOldest), await outcomeWith(() => false)];
for (const descriptor of held) closeSync(descriptor);
process.stdout.write(JSON.stringify(outcomes), () => process.exit());
