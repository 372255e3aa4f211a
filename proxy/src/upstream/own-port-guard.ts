import { hostPortsOf, localPortsOf } from "@svc-gateway/common/admin/local-ports.ts";
import { createOwnPortCheck, type OwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import type { ProcessSettings } from "@svc-gateway/common/settings/settings.ts";

export type OwnPortGuardOptions = Pick<
  ProcessSettings,
  "managementBindAddress" | "adminPort" | "healthPort"
> & {
  /** Returns the addresses of this host; by default those of its network interfaces. */
  readonly interfaces?: () => readonly string[];
};

/** How long the addresses of this host are cached, in milliseconds. */
const addressesForMs = 5_000;

/**
 * The last check before a connect. It keeps the traffic of clients away from the ports of the gateway itself, even when
 * an endpoint has such an address or resolves to one (docs/security.md, "Ports of the gateway itself").
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

  /** Applies the ports of the gateway's pods from a snapshot. */
  update(ownPorts: OwnPorts): void {
    this.check = createOwnPortCheck(ownPorts, this.localPorts);
  }

  /** Reports whether an address and port belong to the gateway. */
  refuses(ip: string, port: number): boolean {
    if (this.check(ip, port)) return true;
    const { adminPort, healthPort } = this.options;
    // The addresses of the host matter only for the ports of this process, so they are rarely read.
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
