import { createServer, type Server, type TLSSocket } from "node:tls";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { type LoadedCertificate, loadCertificate } from "./certificate.ts";
import { commonTlsOptions, type TlsSettings } from "./settings.ts";

/** A TLS server for one set of certificates. It never listens: connections are handed to it. */
export type Terminator = {
  readonly server: Server;
  /** End of validity of the certificate that is preferred, milliseconds since 1970. */
  readonly notAfterMs: number;
};

/** TLS servers by the certificates they serve, each built once and kept as long as some port uses it. */
export type Terminators = {
  /** The server for these certificates, best first; bad ones are left out and logged. Undefined: none is usable. */
  get(ids: readonly string[], certificates: TlsPort["certificates"]): Terminator | undefined;
  /** Forgets the servers that none of the collections contains. Their connections are not touched. */
  retain(used: ReadonlySet<Terminator>): void;
  readonly size: number;
};

export type TerminatorEvents = {
  readonly onSecure: (socket: TLSSocket) => void;
  readonly onError: (error: Error, socket: TLSSocket) => void;
};

export function createTerminators(settings: TlsSettings, log: Logger, events: TerminatorEvents): Terminators {
  const options = commonTlsOptions(settings);
  const byIds = new Map<string, Terminator>();

  const build = (ids: readonly string[], certificates: TlsPort["certificates"]): Terminator | undefined => {
    const loaded = loadAll(ids, certificates, log);
    const [preferred] = loaded;
    if (preferred === undefined) return undefined;
    const server = withoutThrowing(() =>
      createServer({
        ...options,
        cert: loaded.map(({ chainPem }) => chainPem),
        key: loaded.map(({ keyPem }) => keyPem),
      }),
    );
    if (!server.ok) {
      log.error({ certificates: ids, reason: server.error.message }, "certificates left out");
      return undefined;
    }
    server.value.on("secureConnection", events.onSecure);
    server.value.on("tlsClientError", events.onError);
    return { server: server.value, notAfterMs: preferred.notAfterMs };
  };

  return {
    get(ids, certificates) {
      const key = ids.join(",");
      const known = byIds.get(key);
      if (known !== undefined) return known;
      const built = build(ids, certificates);
      if (built !== undefined) byIds.set(key, built);
      return built;
    },
    retain(used) {
      for (const [key, terminator] of byIds) if (!used.has(terminator)) byIds.delete(key);
    },
    get size() {
      return byIds.size;
    },
  };
}

/** The usable certificates, the best one of each key type: OpenSSL shows the first type that the client verifies. */
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

function withoutThrowing<Value>(work: () => Value): Result<Value> {
  try {
    return ok(work());
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error));
  }
}
