import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import { systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { scheduleAt } from "@svc-gateway/common/time/schedule-at.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { WorkloadIdentity } from "@svc-gateway/proto/identity.ts";
import type { CaKeeper, CaState } from "./ca-keeper.ts";

/** The certificate of the discovery listeners, and the roots that they trust. */
export type TlsMaterial = {
  readonly privateKeyPem: string;
  readonly chainPem: string;
  /** Roots of client certificates, PEM. */
  readonly trustPem: string;
};

export type ServerIdentity = {
  /** The present certificate; undefined until there is a certificate authority. */
  current(): TlsMaterial | undefined;
  subscribe(listener: (material: TlsMaterial) => void): () => void;
  stop(): void;
};

export type ServerIdentityOptions = {
  readonly keeper: CaKeeper;
  /** The controller's service account. */
  readonly identity: WorkloadIdentity;
  /** Names under which proxies reach the controllers. */
  readonly dnsNames: readonly string[];
  readonly lifetimeMs: number;
  readonly log: Logger;
  readonly clock?: Clock;
};

/**
 * How long a controller keeps using a certificate of a replaced root: proxies read the new root from a mounted
 * ConfigMap, which the kubelet refreshes within about two minutes.
 */
const adoptionDelayMs = 5 * 60_000;
const retryMs = 5_000;

/**
 * Keeps the controller's own certificate. It is issued when an authority exists, renewed at half its lifetime, and
 * issued again some minutes after the authority was replaced. Clients are verified with the new bundle immediately.
 * Only new connections use a new certificate; open streams continue. See docs/discovery.md, "Identities".
 */
export function createServerIdentity(options: ServerIdentityOptions): ServerIdentity {
  const { keeper, identity, dnsNames, lifetimeMs, log, clock = systemClock } = options;
  const listeners = createListeners<[material: TlsMaterial]>();
  let material: TlsMaterial | undefined;
  let issuer: CaState["authority"] | undefined;
  let renewAtMs = 0;
  /**
   * The time at which a certificate of a new authority is due: after the adoption delay, but before the old certificate
   * ends.
   */
  let adoptAtMs = 0;
  let endsMs = 0;
  let isIssuing = false;
  let isStopped = false;
  let cancelTimer = (): void => {};

  const publish = (next: TlsMaterial): void => {
    material = next;
    listeners.notify(next);
  };

  const planAt = (atMs: number): void => {
    cancelTimer();
    cancelTimer = scheduleAt(clock, atMs, () => void issue());
  };

  const issue = async (): Promise<void> => {
    const state = keeper.current();
    if (state === undefined || isIssuing || isStopped) return;
    isIssuing = true;
    try {
      const fresh = await issueFor(state);
      if (isStopped) return;
      issuer = state.authority;
      const nowMs = clock.nowMs();
      endsMs = fresh.notAfterMs;
      renewAtMs = nowMs + Math.max(retryMs, (endsMs - nowMs) / 2);
      const trustPem = keeper.current()?.bundlePem ?? state.bundlePem;
      publish({ privateKeyPem: fresh.privateKeyPem, chainPem: fresh.chainPem, trustPem });
      log.info({ not_after: new Date(fresh.notAfterMs).toISOString() }, "controller certificate issued");
    } catch (error) {
      log.error({ reason: String(error) }, "controller certificate cannot be issued");
      renewAtMs = clock.nowMs() + retryMs;
      adoptAtMs = renewAtMs;
    } finally {
      isIssuing = false;
      if (!isStopped) plan();
    }
  };

  const issueFor = async ({ authority }: CaState) => {
    const keys = await promisify(generateKeyPair)("ec", {
      namedCurve: "P-256",
      publicKeyEncoding: { type: "spki", format: "der" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const certificate = await authority.issueServerCertificate({
      publicKey: keys.publicKey,
      identity,
      dnsNames,
      nowMs: clock.nowMs(),
      lifetimeMs,
    });
    return { ...certificate, privateKeyPem: keys.privateKey };
  };

  const plan = (): void => {
    const hasNewIssuer = issuer !== undefined && keeper.current()?.authority !== issuer;
    planAt(hasNewIssuer ? adoptAtMs : renewAtMs);
  };

  const onAuthority = ({ authority, bundlePem }: CaState): void => {
    if (material === undefined) return void issue();
    publish({ ...material, trustPem: bundlePem });
    if (authority === issuer) return;
    const nowMs = clock.nowMs();
    adoptAtMs = nowMs + Math.min(adoptionDelayMs, Math.max(0, (endsMs - nowMs) * 0.9));
    plan();
  };

  const unsubscribe = keeper.subscribe(onAuthority);
  void issue();
  return {
    current: () => material,
    subscribe: listeners.subscribe,
    stop() {
      isStopped = true;
      unsubscribe();
      cancelTimer();
    },
  };
}

/** The DNS names of a Service of the cluster: short, with namespace, and full. */
export const serviceDnsNames = (service: string, namespace: string): readonly string[] => [
  service,
  `${service}.${namespace}`,
  `${service}.${namespace}.svc`,
  `${service}.${namespace}.svc.cluster.local`,
];
