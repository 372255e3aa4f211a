/**
 * `node:http2`, loaded when the first connection needs it: with the proxy's own codec, which is the default, nothing does, and a
 * worker starts without it.
 */
export const nodeHttp2 = (): typeof import("node:http2") => process.getBuiltinModule("node:http2");
