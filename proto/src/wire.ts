/** The agreements between both ends of the discovery channel besides the messages themselves. See docs/discovery.md. */

/**
 * Version of the contract. It changes only when an old peer would misread the new form; new fields and new kinds of
 * resources do not need it (docs/discovery.md, "Versions").
 */
export const wireVersion = 2;

/** Audience of the service-account tokens that proxies present. */
export const tokenAudience = "svc-discovery";

/** The maximum length of a message that a controller reads. */
export const maxMessageToServerBytes = 1024 * 1024;

/** The maximum length of a message that a proxy reads. */
export const maxMessageToProxyBytes = 64 * 1024 * 1024;

/**
 * The maximum length of one part of an update, for proxies that receive updates in parts (docs/discovery.md, "Parts").
 * Parts are so short that even on a slow network, one arrives before the controller counts as silent.
 */
export const maxPartBytes = 1024 * 1024;

/**
 * The maximum size of an update that a proxy assembles from parts, larger than any that a controller sends
 * (docs/routing.md, "Size").
 */
export const maxUpdateBytes = 256 * 1024 * 1024;

/** The interval of keepalive pings, and the time limit for their answers. Both ends send pings. */
export type Keepalive = { readonly intervalMs: number; readonly timeoutMs: number };

export const defaultKeepalive: Keepalive = { intervalMs: 20_000, timeoutMs: 10_000 };
