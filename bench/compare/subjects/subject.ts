import type { Ports, Setup } from "../setup.ts";

/** A proxy that is measured: its configuration for a setup, and the command that starts it. */
export type Subject = {
  readonly name: string;
  /**
   * The reason why it cannot be measured here, such as "haproxy is not installed (Debian: haproxy)"; undefined if it
   * can.
   */
  missing(): string | undefined;
  /** Whether the subject accepts HTTP/2 without TLS on a separate port only. */
  readonly splitsProtocols?: true;
  /** Writes the configuration and returns the command; undefined if the subject does not support the variant. */
  configure(setup: Setup, ports: Ports): Command | undefined;
};

export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};
