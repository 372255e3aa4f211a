import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { HostRoutes } from "@svc-gateway/common/ir/route.ts";
import type { SortedEntries } from "@svc-gateway/common/ir/sorted-entries.ts";

/** The routes of one host as served. They are the same on each of `ports`. */
export type ServedHost = {
  readonly group: RouteGroup;
  readonly ports: readonly number[];
  readonly host: HostPattern;
  readonly value: HostRoutes;
};

/** The snapshot before encoding, for callers that explain, list or count what is served. */
export type Routing = {
  readonly hosts: readonly ServedHost[];
  /** Endpoint sets by the name that backends refer to: `namespace/service/port`. */
  readonly endpoints: SortedEntries<{ readonly set: EndpointSet }, string>;
  /** Certificates by port. */
  readonly tls: ReadonlyMap<number, TlsPort>;
  /** The client certificates that are requested, by port. Ports where none is requested are omitted. */
  readonly clientCerts: ReadonlyMap<number, ClientCertPort>;
};
