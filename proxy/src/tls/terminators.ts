import { createHash } from "node:crypto";
import { createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from "node:tls";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { withoutThrowing } from "@svc-gateway/common/values/errors.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { type LoadedCertificate, loadCertificate } from "./load-certificate.ts";
import type { ClientPolicy } from "./client-validation.ts";
import { clientValidationOptions, commonTlsOptions, type TlsSettings } from "./server-options.ts";
import { randomTicketKeys, type TicketKeyRing } from "./ticket-keys.ts";

/** TLS servers for one set of certificates. They never listen, but receive accepted connections. */
export type Terminator = {
  /** Returns the server that can decrypt the tickets of the named key (`ClientHello.ticketKeyName`), and no others. */
  server(ticketKeyName: string | undefined): Server;
  /** Returns a context for connections without a socket; undefined if client certificates are requested. */
  context(ticketKeyName: string | undefined): SecureContext | undefined;
  /** The protocols that ALPN selects from, in the encoding of RFC 7301 3.1. */
  readonly protocols: Uint8Array;
  /** End of validity of the preferred certificate, in milliseconds since 1970. */
  readonly notAfterMs: number;
};

/** The terminators by their certificates and client rules, each built once and kept while a port uses it. */
export type Terminators = {
  /**
   * Returns the terminator for these certificates, best first. Unusable ones are omitted and logged; if none is usable,
   * the result is undefined. With a policy, client certificates are requested; the caller decides whether to admit the
   * client. With `isOpaque`, no application protocol (ALPN) is negotiated.
   */
  get(
    ids: readonly string[],
    certificates: TlsPort["certificates"],
    policy?: ClientPolicy,
    isOpaque?: boolean,
  ): Terminator | undefined;
  /** Drops the terminators that are no longer used, without affecting their connections. */
  retain(used: ReadonlySet<Terminator>): void;
  /** Replaces the keys of session tickets, without affecting connections. */
  useTicketKeys(keys: TicketKeyRing): void;
  readonly size: number;
};

export type TerminatorEvents = {
  readonly onSecure: (socket: TLSSocket) => void;
  readonly onError: (error: Error, socket: TLSSocket) => void;
  /** Called with a server whose clients are verified, before its first connection. */
  readonly onStrictServer?: (server: Server) => void;
};

type Built = Terminator & { useTicketKeys(keys: TicketKeyRing): void };

export function createTerminators(settings: TlsSettings, log: Logger, events: TerminatorEvents): Terminators {
  const options = commonTlsOptions(settings);
  const byKey = new Map<string, Built>();
  let ring = randomTicketKeys();

  const build = (
    ids: readonly string[],
    certificates: TlsPort["certificates"],
    policy: ClientPolicy | undefined,
    isOpaque: boolean,
  ): Built | undefined => {
    const loaded = loadAll(ids, certificates, log);
    const [preferred] = loaded;
    if (preferred === undefined) return undefined;
    const own = {
      ...options,
      cert: loaded.map(({ chainPem }) => chainPem),
      key: loaded.map(({ keyPem }) => keyPem),
      sessionIdContext: sessionContextOf(ids, policy),
      ...(isOpaque && { ALPNProtocols: [] }),
    };
    const protocols = alpnOf(own.ALPNProtocols);
    const create = (ticketKeys: Buffer): Server => {
      const server = createServer(
        policy === undefined ? { ...own, ticketKeys } : clientValidationOptions(policy, own),
      );
      server.on("secureConnection", events.onSecure);
      server.on("tlsClientError", events.onError);
      if (policy?.mode === "require" || policy?.deferred === true) events.onStrictServer?.(server);
      return server;
    };
    const first = withoutThrowing(() => ok(create(ring.newest)));
    if (!first.ok) {
      log.error({ certificates: ids, reason: first.error.message }, "certificates left out");
      return undefined;
    }
    const present = first.value;
    const { notAfterMs } = preferred;
    if (policy !== undefined) {
      const context = (): undefined => undefined;
      return { notAfterMs, protocols, context, server: () => present, useTicketKeys: () => undefined };
    }
    /** The servers of older ticket keys, each created when its first ticket arrives. */
    const older = new Map<string, Server>();
    /**
     * Contexts by the name of their ticket key ("" for the newest), created for the first connection that needs one.
     */
    const contexts = new Map<string, SecureContext>();
    return {
      notAfterMs,
      protocols,
      context(name) {
        const keys = name === undefined ? undefined : ring.older.get(name);
        const key = name === undefined || keys === undefined ? "" : name;
        let context = contexts.get(key);
        if (context === undefined) {
          context = createSecureContext({ ...own, ticketKeys: keys ?? ring.newest });
          contexts.set(key, context);
        }
        return context;
      },
      server(name) {
        const keys = name === undefined ? undefined : ring.older.get(name);
        if (name === undefined || keys === undefined) return present;
        let server = older.get(name);
        if (server === undefined) older.set(name, (server = create(keys)));
        return server;
      },
      useTicketKeys(keys) {
        present.setTicketKeys(keys.newest);
        contexts.clear();
        for (const name of older.keys()) if (!keys.older.has(name)) older.delete(name);
      },
    };
  };

  return {
    get(ids, certificates, policy, isOpaque = false) {
      const key = `${ids.join(",")} ${policy?.id ?? ""} ${isOpaque}`;
      const known = byKey.get(key);
      if (known !== undefined) return known;
      const built = build(ids, certificates, policy, isOpaque);
      if (built !== undefined) byKey.set(key, built);
      return built;
    },
    retain(used) {
      for (const [key, terminator] of byKey) if (!used.has(terminator)) byKey.delete(key);
    },
    useTicketKeys(keys) {
      ring = keys;
      for (const terminator of byKey.values()) terminator.useTicketKeys(keys);
    },
    get size() {
      return byKey.size;
    },
  };
}

/** Encodes protocol names as in RFC 7301 3.1. */
const alpnOf = (names: readonly string[]): Uint8Array =>
  Buffer.concat(names.map((name) => Buffer.from(`${String.fromCharCode(name.length)}${name}`, "latin1")));

/**
 * Returns the context in which sessions can be resumed, at most 32 bytes. It is the same for the same certificates and
 * client rules, on any worker and pod. Node's own context would differ between processes.
 */
const sessionContextOf = (ids: readonly string[], policy: ClientPolicy | undefined): string =>
  createHash("sha256")
    .update(`${ids.join(",")} ${policy?.id ?? ""}`)
    .digest("hex")
    .slice(0, 32);

/** Returns the best usable certificate of each key type. OpenSSL presents the first type that the client supports. */
function loadAll(
  ids: readonly string[],
  certificates: TlsPort["certificates"],
  log: Logger,
): readonly LoadedCertificate[] {
  const byType = new Map<string, LoadedCertificate>();
  for (const id of ids) {
    const certificate = certificates[id];
    const loaded = certificate === undefined ? problem("not in the snapshot") : loadCertificate(certificate);
    if (!loaded.ok) log.error({ certificate: id, reason: loaded.error.message }, "certificate left out");
    else if (!byType.has(loaded.value.keyType)) byType.set(loaded.value.keyType, loaded.value);
  }
  return [...byType.values()];
}
