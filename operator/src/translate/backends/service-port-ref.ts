/** A port of a Service, by number or by name. */
export type ServicePortRef = { readonly number: number } | { readonly name: string };

/** The traffic that is sent to endpoints. `checks` are requests for authorization, `copies` those of mirrors. */
export type EndpointUse = "checks" | "connections" | "copies" | "datagrams" | "errors" | "requests";
