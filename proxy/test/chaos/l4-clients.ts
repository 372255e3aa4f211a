/** Clients of listeners below HTTP, which send anything and leave when they like. */
import { createSocket } from "node:dgram";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setTimeout as delay } from "node:timers/promises";
import { reset } from "./clients.ts";
import type { Choices } from "./random.ts";

/** Longest that a client stays. */
const patienceMs = 250;

export type L4Ports = { readonly tcp: number; readonly tls: number; readonly udp: number };

/** One connection with some pieces of bytes, or some datagrams. */
export function talkBelowHttp(choices: Choices, ports: L4Ports): Promise<void> {
  switch (choices.below(3)) {
    case 0:
      return talk(choices, connect({ host: "127.0.0.1", port: ports.tcp }));
    case 1:
      return talk(
        choices,
        connectTls({
          host: "127.0.0.1",
          port: ports.tls,
          servername: "h1.example",
          rejectUnauthorized: false,
        }),
      );
    default:
      return sendDatagrams(choices, ports.udp);
  }
}

const bytes = (choices: Choices): Buffer => Buffer.alloc(1 + choices.below(20_000), "z");

function talk(choices: Choices, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const leave = choices.below(3);
    const go = (): void => {
      if (leave === 0) reset(socket);
      else if (leave === 1) socket.destroy();
      else socket.end(() => socket.destroy());
    };
    const timers = [
      setTimeout(go, choices.below(patienceMs)),
      setTimeout(() => socket.destroy(), patienceMs),
    ];
    socket.on("error", () => {});
    if (choices.chance(0.8)) socket.resume();
    socket.on("close", () => {
      for (const timer of timers) clearTimeout(timer);
      resolve();
    });
    for (let piece = choices.below(4); piece > 0; piece--) socket.write(bytes(choices));
  });
}

async function sendDatagrams(choices: Choices, port: number): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("error", () => {});
  for (let count = 1 + choices.below(5); count > 0; count--) {
    socket.send(bytes(choices).subarray(0, 1200), port, "127.0.0.1");
  }
  await delay(choices.below(patienceMs));
  await new Promise<void>((resolve) => void socket.close(() => resolve()));
}
