import type { Ports, Setup } from "../setup.ts";

/** A proxy that is measured: its configuration for a setup, and the command that serves it. */
export type Subject = {
  readonly name: string;
  /** Why it cannot be measured here, such as "haproxy is not installed (Debian: haproxy)"; undefined: it can. */
  missing(): string | undefined;
  /** It takes HTTP/2 without TLS on a port of its own. */
  readonly splitsProtocols?: true;
  /** Undefined: it cannot do what the variant asks for. */
  configure(setup: Setup, ports: Ports): Command | undefined;
};

export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};
