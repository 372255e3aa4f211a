/**
 * Returns `node:http2`, which is loaded on the first use. The proxy's own codec, which is the default, does not need
 * it, so workers start without it.
 */
export const nodeHttp2 = (): typeof import("node:http2") => process.getBuiltinModule("node:http2");
