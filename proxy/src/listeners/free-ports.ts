import { createServer } from "node:net";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import { describeBindFailure, type BindFailure } from "./bind-failure.ts";
import { bindServer } from "./bind.ts";
import { bindUdp } from "./bind-udp.ts";

type Wanted = {
  readonly listenerPort: number;
  readonly port: number;
  readonly transport: "tcp" | "udp";
};

export type PortCheck = {
  readonly listeners: readonly Pick<Listener, "port" | "protocol">[];
  /** Returns the local port of a listener port; 0 for any free one. */
  readonly localPort: (port: number) => number;
  /** The address to bind; undefined for every address. */
  readonly address: string | undefined;
};

/** A listener that cannot bind its port, and the reason in a sentence. */
export type UnusablePort = { readonly listenerPort: number; readonly why: string };

/**
 * Returns the listeners that cannot bind their ports, one for each local port, in order; none if all can. Each port is
 * opened exclusively and closed again. The sockets of workers cannot show this: they share their ports, and would share
 * them with another gateway of the same user as well.
 */
export async function findUnusablePorts({
  listeners,
  localPort,
  address,
}: PortCheck): Promise<readonly UnusablePort[]> {
  const wanted = new Map<string, Wanted>();
  for (const { port: listenerPort, protocol } of listeners) {
    const port = localPort(listenerPort);
    const transport = protocol === "udp" ? "udp" : "tcp";
    if (port !== 0) wanted.set(`${port}/${transport}`, { listenerPort, port, transport });
  }
  const unusable: UnusablePort[] = [];
  for (const { listenerPort, port, transport } of wanted.values()) {
    const failure = await (transport === "udp" ? tryUdp : tryTcp)(port, address);
    if (failure === undefined) continue;
    unusable.push({ listenerPort, why: await describeBindFailure(failure, transport) });
  }
  return unusable;
}

async function tryTcp(port: number, address: string | undefined): Promise<BindFailure | undefined> {
  const server = createServer();
  const bound = await bindServer(server, { port, address, reusePort: false });
  if (!bound.ok) return bound.error;
  await new Promise((resolve) => server.close(resolve));
  return undefined;
}

async function tryUdp(port: number, address: string | undefined): Promise<BindFailure | undefined> {
  const bound = await bindUdp({ port, address, reusePort: false });
  if (!bound.ok) return bound.error;
  await new Promise<void>((resolve) => void bound.value.close(resolve));
  return undefined;
}
