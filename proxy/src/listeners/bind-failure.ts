/** Why a listener has no socket, in a sentence for the log. */
import { describePortHolder } from "@svc-gateway/common/linux/port-holder.ts";

export type BindFailure = {
  /** The local port. */
  readonly port: number;
  /** The address that was tried. */
  readonly address: string;
  /** The system's error code (`EADDRINUSE`). */
  readonly code: string;
};

/** Describes a failure: `Port 8080 is taken by nginx (process 17)`, or another reason why the socket is not open. */
export async function describeBindFailure(
  { port, address, code }: BindFailure,
  transport: "tcp" | "udp",
): Promise<string> {
  switch (code) {
    case "EADDRINUSE":
      return describePortHolder(port, transport);
    case "EACCES":
      return `Port ${port} is reserved for privileged users: --port-map can move the listener to another one`;
    case "EADDRNOTAVAIL":
      return `This machine does not have the address ${address}`;
    default:
      return `Port ${port} cannot be bound on ${address} (${code})`;
  }
}
