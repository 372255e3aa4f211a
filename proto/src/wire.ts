/**
 * What both ends of the discovery channel agree on besides the messages themselves. See docs/discovery.md.
 */

/**
 * Version of the contract. It changes only when an old peer would misread the new form; new fields and new kinds of
 * resources do not need it (docs/discovery.md, "Versions").
 */
export const wireVersion = 2;

/** Audience of the service-account tokens that proxies present. */
export const tokenAudience = "svc-discovery";

/** The longest message that a controller reads. */
export const maxMessageToServerBytes = 1024 * 1024;

/** The longest message that a proxy reads. */
export const maxMessageToProxyBytes = 64 * 1024 * 1024;

/**
 * The longest part of an update, of proxies that take updates in parts (docs/discovery.md, "Parts"). Short enough that one
 * comes before a controller counts as silent, on a slow network too.
 */
export const maxPartBytes = 1024 * 1024;

/** The largest update that a proxy puts together from parts: more than a controller sends (docs/routing.md, "Size"). */
export const maxUpdateBytes = 256 * 1024 * 1024;

/** The interval of keepalive pings, and how long their answer may take. Both ends send them. */
export type Keepalive = { readonly intervalMs: number; readonly timeoutMs: number };

export const defaultKeepalive: Keepalive = { intervalMs: 20_000, timeoutMs: 10_000 };
