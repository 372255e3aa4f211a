import { hostPortsOf, localPortsOf } from "@svc-gateway/common/admin/local-ports.ts";
import { createOwnPortCheck, type OwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { ProcessSettings } from "@svc-gateway/common/settings/settings.ts";

export type OwnPortGuardOptions = Pick<
  ProcessSettings,
  "managementBindAddress" | "adminPort" | "healthPort"
> & {
  /** The addresses of this host; those of its interfaces unless given. */
  readonly interfaces?: () => readonly string[];
};

/** How long the addresses of this host are remembered, in milliseconds. */
const addressesForMs = 5_000;

/**
 * The last guard before a connect: nothing that the proxy sends for a client goes to a port of the gateway itself, even
 * when an endpoint or a name leads there (docs/security.md, "Ports of the gateway itself").
 */
export class OwnPortGuard {
  private readonly options: OwnPortGuardOptions;
  private readonly localPorts: readonly number[];
  private check: OwnPortCheck;
  private hostCheck: OwnPortCheck = () => false;
  private hostCheckEndsMs = 0;

  constructor(options: OwnPortGuardOptions) {
    this.options = options;
    this.localPorts = localPortsOf(options);
    this.check = createOwnPortCheck(noOwnPorts, this.localPorts);
  }

  /** Takes over the addresses of the gateway's pods from a snapshot. */
  update(ownPorts: OwnPorts): void {
    this.check = createOwnPortCheck(ownPorts, this.localPorts);
  }

  /** Whether an address and port are the gateway's own. */
  refuses(ip: string, port: number): boolean {
    if (this.check(ip, port)) return true;
    const { adminPort, healthPort } = this.options;
    // Rare: the addresses of the host matter for the ports of this process alone.
    return (port === adminPort || port === healthPort) && this.ofHost()(ip, port);
  }

  private ofHost(): OwnPortCheck {
    const nowMs = performance.now();
    if (nowMs < this.hostCheckEndsMs) return this.hostCheck;
    const { interfaces } = this.options;
    this.hostCheck = createOwnPortCheck({ addresses: hostPortsOf(this.options, interfaces) });
    this.hostCheckEndsMs = nowMs + addressesForMs;
    return this.hostCheck;
  }
}
