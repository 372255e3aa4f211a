/** Which server names of Ingresses ask for client certificates. See docs/features/auth-tls.md. */
import type { ClientCertPort, ClientValidation } from "@svc-gateway/common/ir/client-certificate.ts";
import { sha256Hex } from "@svc-gateway/common/ir/resource.ts";
import { compareText } from "../age.ts";
import { haveSameItems, memo } from "../memo.ts";
import { bucketOf, type TlsHostTable } from "./tls.ts";

const none: ClientCertPort = { authorities: {}, hosts: [] };

/** All that the server names of a port ask of clients. The last value is given again while it stays the same. */
export function createClientCertPortBuilder(): (tables: readonly TlsHostTable[]) => ClientCertPort {
  let last = none;
  let lastTables: readonly TlsHostTable[] = [];
  return (tables) => {
    const asking = tables.filter(({ clients }) => clients !== undefined);
    if (haveSameItems(asking, lastTables)) return last;
    lastTables = asking;
    last = build(asking);
    return last;
  };
}

function build(tables: readonly TlsHostTable[]): ClientCertPort {
  const authorities: Record<string, string> = {};
  const hosts = tables.map((table): ClientValidation => {
    const { id, pem } = authoritiesOf(table);
    if (id !== undefined) authorities[id] = pem;
    return {
      bucket: bucketOf(table.name),
      host: table.name.host,
      mode: "require",
      ...(id === undefined ? {} : { authorities: id }),
      maxIntermediates: table.clients?.maxIntermediates ?? 0,
      forward: table.clients?.forward ?? false,
    };
  });
  return {
    authorities,
    hosts: hosts.sort((a, b) => compareText(a.bucket, b.bucket) || compareText(a.host, b.host)),
  };
}

const authoritiesOf = memo(
  ({ clients }: TlsHostTable): { readonly id: string | undefined; readonly pem: string } => {
    const pem = clients?.authorities;
    return pem === undefined ? { id: undefined, pem: "" } : { id: sha256Hex(pem), pem };
  },
);
