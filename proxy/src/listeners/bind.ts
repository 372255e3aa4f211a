import type { AddressInfo, ListenOptions, Server } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { BindFailure } from "./bind-failure.ts";

/** All addresses of both families, or only those of IPv4 if the system has no IPv6. */
export const anyAddress: readonly string[] = ["::", "0.0.0.0"];

/** The most connections that wait for the process to accept them (net.core.somaxconn can lower it). */
const backlog = 4096;

/** Errors that mean that the machine does not have this address family, as opposed to a port that is taken. */
export const missingFamily: ReadonlySet<string | undefined> = new Set(["EAFNOSUPPORT", "EADDRNOTAVAIL"]);

export type BindTarget = {
  /** The port; 0 selects a free one. */
  readonly port: number;
  /** The address; undefined for every address. */
  readonly address: string | undefined;
  /** Whether other sockets of this user may listen on the port as well (SO_REUSEPORT). */
  readonly reusePort: boolean;
};

/** Binds a server and lets it listen. Returns the local port. */
export async function bindServer(
  server: Server,
  { port, address, reusePort }: BindTarget,
): Promise<Result<number, BindFailure>> {
  let failure: BindFailure = { port, address: "", code: "no address to bind" };
  for (const host of address === undefined ? anyAddress : [address]) {
    const error = await tryListen(server, { port, host, reusePort, backlog });
    if (error === undefined) return ok((server.address() as AddressInfo).port);
    failure = { port, address: host, code: error.code ?? error.message };
    if (!missingFamily.has(error.code)) break;
  }
  return fail(failure);
}

function tryListen(server: Server, options: ListenOptions): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off("listening", onListening);
      resolve(error);
    };
    const onListening = (): void => {
      server.off("error", onError);
      resolve(undefined);
    };
    server.once("error", onError);
    server.once("listening", onListening);
    server.listen(options);
  });
}
