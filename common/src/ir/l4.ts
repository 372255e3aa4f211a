import { z } from "zod";

/** A share of the connections or sessions of a route. */
export const l4BackendSchema = z.object({
  weight: z.int().min(0).max(1_000_000),
  /** `namespace/name` of the Service, for metrics. */
  service: z.string(),
  /** Name of the endpoint set; if absent, the backend cannot be used, and its share of connections is refused. */
  endpoints: z.string().optional(),
});

/** The targets of connections or sessions, which are refused if the list is empty or all weights are 0. */
export const l4RouteSchema = z.object({
  /** Route identifier of metrics. */
  id: z.string(),
  /** The object that defines the route. */
  source: z.object({ kind: z.string(), namespace: z.string(), name: z.string() }),
  backends: z.array(l4BackendSchema),
});

/**
 * The handling of connections by server name. `exact` is a full name, `wildcard` (`*.x`) matches one or more labels,
 * `any` (`*`) matches all names and their absence. TCP and UDP ports have no names, and one entry for `any`.
 */
export const l4HostSchema = z.object({
  kind: z.enum(["exact", "wildcard", "any"]),
  host: z.string(),
  /**
   * `passthrough`: the bytes are forwarded unchanged. `terminate`: TLS is terminated here. `http`: the names belong to
   * the HTTPS listener of the port.
   */
  mode: z.enum(["passthrough", "terminate", "http"]),
  /** As in HostRoutes; where TLS is terminated here, connections to backends can use TLS again. */
  clientCertificate: z.string().optional(),
  /** The route; if absent, connections are refused. */
  route: l4RouteSchema.optional(),
});

/** The routes of a port below HTTP. The narrowest host that covers a name decides. See docs/features/l4.md. */
export const l4PortSchema = z.object({ hosts: z.array(l4HostSchema) });

export type L4Backend = Readonly<z.infer<typeof l4BackendSchema>>;
export type L4Route = Readonly<Omit<z.infer<typeof l4RouteSchema>, "source" | "backends">> & {
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly backends: readonly L4Backend[];
};
export type L4Host = Readonly<Omit<z.infer<typeof l4HostSchema>, "route">> & {
  readonly route?: L4Route | undefined;
};
export type L4Port = { readonly hosts: readonly L4Host[] };
