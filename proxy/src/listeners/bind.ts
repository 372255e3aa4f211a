import type { AddressInfo, Server } from "node:net";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** All addresses of both families, else those of IPv4 where the system has no IPv6. */
const anyAddress: readonly string[] = ["::", "0.0.0.0"];

/** Connections that the system accepts before the process does (net.core.somaxconn may lower it). */
const backlog = 4096;

/** Errors that say that the machine does not have this address family, as opposed to a port that is taken. */
const missingFamily: ReadonlySet<string | undefined> = new Set(["EAFNOSUPPORT", "EADDRNOTAVAIL"]);

/** Makes a server listen. Answers the local port; `address` undefined means every address. */
export async function bindServer(
  server: Server,
  port: number,
  address: string | undefined,
): Promise<Result<number>> {
  let failure: Result<number> = problem("no address to bind");
  for (const host of address === undefined ? anyAddress : [address]) {
    const error = await tryListen(server, port, host);
    if (error === undefined) return ok((server.address() as AddressInfo).port);
    failure = problem(`${host}:${port}: ${error.code ?? error.message}`);
    if (!missingFamily.has(error.code)) break;
  }
  return failure;
}

function tryListen(server: Server, port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
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
    server.listen({ port, host, backlog });
  });
}
