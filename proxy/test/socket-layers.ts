import { openHandleSockets } from "../src/sockets/handles/handle-layer.ts";
import { spoilReadMemory } from "./spoiled-memory.ts";
import { nodeSockets, type SocketLayer } from "../src/sockets/socket-layer.ts";

/** The values of `--socket-layer`. */
export type SocketLayerName = "node" | "handles";

/** The limit of each self-test, which must not fail on a machine that stops the process for seconds. */
const maxTestMs = 60_000;

let handles: SocketLayer | undefined;

/** Opens the TCP handles, once: before the first test, and in programs that tests run before anything uses them. */
export async function openLayers(): Promise<void> {
  if (handles !== undefined) return;
  const opened = await openHandleSockets(undefined, maxTestMs);
  if (!opened.ok) throw new Error(opened.error);
  const { layer: opening, tlsLack, acceptLack } = opened.value;
  const lack = tlsLack ?? acceptLack;
  if (lack !== undefined) throw new Error(lack);
  handles = opening;
}

// A hook of the whole run; programs have none.
if (typeof before === "function") {
  before(openLayers);
  before(spoilReadMemory);
}

/** The handles, which suites may be given before they have been opened. */
const handleSockets: SocketLayer = {
  acceptor: {
    accept: (server, accept) => openedHandles().acceptor?.accept(server, accept) === true,
  },
  take: (socket) => openedHandles().take(socket),
  dial: (memory, receiver, isTls) => openedHandles().dial(memory, receiver, isTls),
};

function openedHandles(): SocketLayer {
  if (handles === undefined) throw new Error("openLayers has not been called");
  return handles;
}

export const layerNamed = (name: SocketLayerName): SocketLayer =>
  name === "node" ? nodeSockets : handleSockets;

/** Outside of `describeSocketLayers`; SOCKET_LAYER=node runs everything with Node's public sockets. */
const layerOfRun: SocketLayerName = process.env["SOCKET_LAYER"] === "node" ? "node" : "handles";
let layer = layerOfRun;

/** The socket layer that fronts, upstream clients and gateways of tests have now. */
export const socketLayer = (): SocketLayer => layerNamed(layer);

/** Sets the socket layer that tests use; undefined restores that of the run. */
export function useSocketLayer(next: SocketLayerName | undefined): void {
  layer = next ?? layerOfRun;
}

/** A describe block for each socket layer, within which fronts, upstream clients and gateways of tests use it. */
export function describeSocketLayers(
  subject: string,
  tests: (this: Mocha.Suite, layer: SocketLayerName) => void,
): void {
  for (const each of ["handles", "node"] as const) {
    describe(`${subject}, on ${each === "node" ? "Node's sockets" : "TCP handles"}`, function () {
      before(() => useSocketLayer(each));
      after(() => useSocketLayer(undefined));
      tests.call(this, each);
    });
  }
}
