/**
 * A thread with a backend and clients: every route gets requests on every connection, then some routes get a few
 * requests at a time.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { hostOf } from "../snapshot/resources.ts";
import type { LoadAnswer, LoadOrder } from "./orders.ts";

const backend = createServer((_, response) => response.end("ok"));
backend.listen(0, "127.0.0.1");
await once(backend, "listening");

async function ask(socket: Socket, host: string): Promise<void> {
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  let text = "";
  while (!text.endsWith("\r\n\r\nok")) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    text += chunk.toString("latin1");
  }
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(text);
}

async function onConnections(
  port: number,
  connections: number,
  work: (socket: Socket) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      await work(socket);
      socket.destroy();
    }),
  );
}

async function fill({ port, routes, connections }: Extract<LoadOrder, { type: "fill" }>): Promise<void> {
  await onConnections(port, connections, async (socket) => {
    for (let route = 0; route < routes; route++) await ask(socket, hostOf(route));
  });
}

async function watch(order: Extract<LoadOrder, { type: "watch" }>): Promise<readonly number[]> {
  const latencies: number[] = [];
  const endMs = performance.now() + order.ms;
  await onConnections(order.port, order.connections, async (socket) => {
    while (performance.now() < endMs) {
      const startMs = performance.now();
      await ask(socket, hostOf(0));
      latencies.push(performance.now() - startMs);
      await delay(2);
    }
  });
  return latencies;
}

const answer = (message: LoadAnswer): void => parentPort?.postMessage(message);

parentPort?.on("message", (order: LoadOrder) => {
  void (async () => {
    if (order.type === "watch") answer({ type: "watched", latencies: await watch(order) });
    else {
      await fill(order);
      answer({ type: "filled" });
    }
  })();
});
answer({ type: "backend", port: (backend.address() as AddressInfo).port });
