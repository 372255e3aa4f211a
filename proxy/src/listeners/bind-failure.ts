/** Describes for the log why a listener has no socket. */
import { describePortHolder } from "@svc-gateway/common/linux/port-holder.ts";

export type BindFailure = {
  /** The local port. */
  readonly port: number;
  /** The address that was tried. */
  readonly address: string;
  /** The system's error code (`EADDRINUSE`). */
  readonly code: string;
};

/** Describes a failure in a sentence, such as `Port 8080 is taken by nginx (process 17)`. */
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
