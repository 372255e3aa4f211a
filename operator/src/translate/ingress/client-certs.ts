/** The server names of Ingresses that request client certificates. See docs/features/auth-tls.md. */
import type { ClientCertPort, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import { compareText } from "../age.ts";
import { haveSameItems } from "../incremental/memo.ts";
import { authoritiesIdOf, ownerOf } from "./client-rules.ts";
import type { TlsHostTable } from "./tls-host-table.ts";
import { bucketOf } from "./tls.ts";

const none: ClientCertPort = { authorities: {}, hosts: [] };

/**
 * Builds the client certificate settings of a port. The previous value is returned again until its server names
 * change.
 */
export function createClientCertPortBuilder(): (tables: readonly TlsHostTable[]) => ClientCertPort {
  let last = none;
  let lastTables: readonly TlsHostTable[] = [];
  return (tables) => {
    const dependent = tables.filter(asks);
    if (haveSameItems(dependent, lastTables)) return last;
    lastTables = dependent;
    last = build(dependent);
    return last;
  };
}

type AskingTable = TlsHostTable & { readonly clients: NonNullable<TlsHostTable["clients"]> };

const asks = (table: TlsHostTable): table is AskingTable => table.clients !== undefined;

function build(tables: readonly AskingTable[]): ClientCertPort {
  const authorities: Record<string, string> = {};
  const hosts = tables.map((table): ClientValidation => {
    const { owner, rules } = table.clients;
    const id = authoritiesIdOf(rules);
    if (id !== undefined) authorities[id] = rules.authorities ?? "";
    return {
      bucket: bucketOf(table.name),
      host: table.name.host,
      mode: rules.byRequest === undefined ? "require" : "optional",
      ...(rules.byRequest && { deferred: true as const }),
      ...(id === undefined ? {} : { authorities: id }),
      maxIntermediates: rules.maxIntermediates,
      forward: rules.forward,
      owner: ownerOf(owner),
    };
  });
  return {
    authorities,
    hosts: hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host)),
  };
}
