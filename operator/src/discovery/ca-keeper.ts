import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import { systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { CaContent, CaStore } from "./ca-store.ts";
import {
  createCertificateAuthority,
  loadCertificateAuthority,
  type CertificateAuthority,
} from "./certificate-authority.ts";
import { formatRetiredRoots, parseRetiredRoots, retiredRootsAt, type RetiredRoot } from "./retired-roots.ts";

/** The authority that signs now and all trusted roots. */
export type CaState = {
  readonly authority: CertificateAuthority;
  readonly retired: readonly RetiredRoot[];
  /** The present root and the retired ones, PEM. */
  readonly bundlePem: string;
};

export type CaKeeper = {
  /**
   * The present state; undefined until an authority was read or created, and until then nothing is signed or served.
   */
  current(): CaState | undefined;
  subscribe(listener: (state: CaState) => void): () => void;
  /**
   * Reads the store now, for example after this replica became the leader. Resolves when the result has been applied.
   */
  reconcile(): Promise<void>;
  stop(): void;
};

export type CaKeeperOptions = {
  readonly store: CaStore;
  /** The mode: `auto` creates and replaces the authority; `external` only reads it. */
  readonly mode: "auto" | "external";
  readonly trustDomain: string;
  readonly svidLifetimeMs: number;
  /** Whether this replica is the leader: only the leader writes. */
  readonly isLeading: () => boolean;
  readonly log: Logger;
  readonly clock?: Clock;
};

const checkIntervalMs = 60 * 60_000;
const retryMs = 5_000;
/** An authority created by the controller is replaced when this share of its lifetime is left: one year of ten. */
const renewalShare = 0.1;

/**
 * Keeps the certificate authority of the discovery channel. Reads it from its store, follows changes, creates and
 * replaces it in `auto` mode, and keeps a replaced root trusted for twice the lifetime of a proxy certificate. The
 * store is authoritative. If its authority cannot be used, or the store does not respond, the last authority remains in
 * use. See docs/discovery.md, "Certificate authority".
 */
export function createCaKeeper(options: CaKeeperOptions): CaKeeper {
  const { store, mode, trustDomain, svidLifetimeMs, isLeading, log, clock = systemClock } = options;
  const listeners = createListeners<[state: CaState]>();
  let state: CaState | undefined;
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;
  let lastProblem = "";
  let cancelTimer = (): void => {};

  const retire = (certificatePem: string): RetiredRoot => ({
    certificatePem,
    until: clock.nowMs() + 2 * svidLifetimeMs,
  });

  /** Returns the authority in the store; if this replica is responsible for that, creates or replaces it first. */
  const loadOrCreate = async (): Promise<Result<Stored>> => {
    const content = await store.read();
    if (!content.ok) return content;
    const present = content.value === undefined ? undefined : await load(content.value);
    if (mode === "auto" && isLeading()) {
      if (present === undefined) return create(undefined);
      if (present.ok && isAlmostOver(present.value.authority)) return create(present.value);
    }
    return present ?? problem(missing[mode]);
  };

  const load = async (content: CaContent): Promise<Result<Stored>> => {
    const authority = await loadCertificateAuthority(trustDomain, content);
    return authority.ok ? ok({ content, authority: authority.value }) : authority;
  };

  const isAlmostOver = ({ notBeforeMs, notAfterMs }: CertificateAuthority): boolean =>
    notAfterMs - clock.nowMs() < (notAfterMs - notBeforeMs) * renewalShare;

  const create = async (previous: Stored | undefined): Promise<Result<Stored>> => {
    const created = await createCertificateAuthority(trustDomain, clock.nowMs());
    const known = parseRetiredRoots(previous?.content.retiredPem ?? "");
    const retired = [...known, ...(previous === undefined ? [] : [retire(previous.authority.rootPem)])];
    const content = { ...created, retiredPem: formatRetiredRoots(retired) };
    const written = await store.write(content, previous?.content);
    if (!written.ok) return written;
    // After a conflict, the authority of the faster replica counts; the watch reports it.
    if (written.value === "conflict") return problem("another replica has written the certificate authority");
    log.info({ replaced: previous !== undefined }, "certificate authority created");
    return load(content);
  };

  const adopt = ({ content, authority }: Stored): CaState => {
    const nowMs = clock.nowMs();
    const known = [...(state?.retired ?? []), ...parseRetiredRoots(content.retiredPem)];
    const replaced = state === undefined ? [] : [retire(state.authority.rootPem)];
    const retired = retiredRootsAt(nowMs, authority.rootPem, [...known, ...replaced]);
    const bundlePem = [authority.rootPem, ...retired.map(({ certificatePem }) => certificatePem)].join("");
    return { authority, retired, bundlePem };
  };

  const publish = async (content: CaContent, { retired, bundlePem }: CaState): Promise<Result<void>> => {
    if (!isLeading()) return ok(undefined);
    const retiredPem = formatRetiredRoots(retired);
    if (retiredPem !== content.retiredPem) {
      const written = await store.write({ ...content, retiredPem }, content);
      if (!written.ok) return written;
    }
    return store.publishTrust(bundlePem);
  };

  const settle = async (): Promise<Result<void>> => {
    const stored = await loadOrCreate();
    if (!stored.ok) return stored;
    if (stored.value.authority.notAfterMs <= clock.nowMs()) {
      return problem("the certificate authority has expired");
    }
    const previous = state;
    const next = adopt(stored.value);
    const isNew = next.authority.certificatePem !== previous?.authority.certificatePem;
    state = isNew || previous === undefined ? next : { ...next, authority: previous.authority };
    if (isNew) {
      const fields = { not_after: new Date(next.authority.notAfterMs).toISOString() };
      log.info({ ...fields, retired_roots: next.retired.length }, "certificate authority in use");
    }
    if (isNew || next.bundlePem !== previous?.bundlePem) {
      listeners.notify(state);
    }
    return publish(stored.value.content, next);
  };

  const run = async (): Promise<void> => {
    let isSettled = false;
    while (isWanted && !isStopped) {
      isWanted = false;
      const result = await settle().catch((error: unknown) => problem(`internal error: ${String(error)}`));
      isSettled = result.ok;
      const reason = result.ok ? "" : result.error.message;
      // The run is retried every few seconds; the same error is logged only once.
      if (reason !== "") {
        log[reason === lastProblem ? "debug" : "warn"]({ reason }, "certificate authority is not ready");
      } else if (lastProblem !== "") log.info({}, "certificate authority is ready again");
      lastProblem = reason;
    }
    running = undefined;
    if (isStopped) return;
    const nowMs = clock.nowMs();
    const ends = (state?.retired ?? []).map(({ until }) => until - nowMs);
    const delayMs = isSettled ? Math.min(checkIntervalMs, ...ends) : retryMs;
    cancelTimer = clock.schedule(Math.max(0, delayMs), () => void reconcile());
  };

  const reconcile = (): Promise<void> => {
    if (isStopped) return Promise.resolve();
    isWanted = true;
    cancelTimer();
    running ??= run();
    return running;
  };

  const unwatch = store.watch(() => void reconcile());
  return {
    current: () => state,
    subscribe: listeners.subscribe,
    reconcile,
    stop() {
      isStopped = true;
      unwatch();
      cancelTimer();
    },
  };
}

type Stored = { readonly content: CaContent; readonly authority: CertificateAuthority };

const missing = {
  auto: "waiting for the leader to create the certificate authority",
  external: "waiting for the Secret of the certificate authority",
} as const;
