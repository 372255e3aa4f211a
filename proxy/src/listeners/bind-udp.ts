import { createSocket, type Socket } from "node:dgram";
import { isIP } from "node:net";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { noLookup } from "../l4/udp-sessions.ts";
import type { BindFailure } from "./bind-failure.ts";
import { anyAddress, missingFamily, type BindTarget } from "./bind.ts";

export type UdpTarget = BindTarget & {
  /** The size of the receive buffer; by default that of the system. */
  readonly receiveBufferBytes?: number;
};

/** Opens a UDP socket. */
export async function bindUdp({ address, ...target }: UdpTarget): Promise<Result<Socket, BindFailure>> {
  const { port } = target;
  let failure: BindFailure = { port, address: "", code: "no address to bind" };
  for (const host of address === undefined ? anyAddress : [address]) {
    const bound = await bindSocket({ ...target, address: host });
    if (bound.ok) return bound;
    const { code, message } = bound.error;
    failure = { port, address: host, code: code ?? message };
    if (!missingFamily.has(code)) break;
  }
  return fail(failure);
}

function bindSocket(
  target: UdpTarget & { readonly address: string },
): Promise<Result<Socket, NodeJS.ErrnoException>> {
  const { port, address, reusePort, receiveBufferBytes } = target;
  return new Promise((resolve) => {
    const socket = createSocket({
      type: isIP(address) === 6 ? "udp6" : "udp4",
      reusePort,
      lookup: noLookup,
      ...(receiveBufferBytes !== undefined && { recvBufferSize: receiveBufferBytes }),
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.close();
      resolve(fail(error));
    });
    socket.bind({ port, address, exclusive: true }, () => {
      socket.removeAllListeners("error");
      resolve(ok(socket));
    });
  });
}
