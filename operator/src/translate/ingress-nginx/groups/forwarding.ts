/**
 * The forwarding fields for backends, and the `Server` field of their responses. See
 * docs/features/forwarding-fields.md.
 */
import type { ForwardingFields } from "@svc-gateway/common/features/forwarding-fields.ts";
import type { TrustForwardedFor } from "@svc-gateway/common/features/trust-forwarded-for.ts";
import type { ConfigKeys } from "../config.ts";
import type { Group } from "./group.ts";

export const forwarding: Group = (_, { nginx }) => {
  const { keys } = nginx.config;
  const trust = trustOf(keys);
  return {
    features: {
      "forwarding-fields": fieldsOf(keys, trust !== undefined),
      ...(trust && { "trust-forwarded-for": trust }),
      ...(!keys.allowBackendServerHeader && { "response-headers": { remove: ["Server"] } }),
    },
  };
};

function fieldsOf(keys: ConfigKeys, isTrusting: boolean): ForwardingFields {
  const isChain = keys.useForwardedHeaders && keys.computeFullForwardedFor;
  return {
    ...(keys.generateRequestId && { requestId: true }),
    scheme: true,
    clientCertificate: true,
    original: keys.forwardedForHeader.toLowerCase(),
    ...(keys.proxyAddOriginalUriHeader && { originalUri: true }),
    ...(isTrusting && !isChain && { clientOnly: true }),
    withoutVia: true,
    ...(keys.ignoreInvalidHeaders && { names: keys.enableUnderscoresInHeaders ? "underscores" : "plain" }),
  };
}

/**
 * The default of `proxy-real-ip-cidr`. Without a list, private addresses would count as those of proxies, and the last
 * public address as the client's.
 */
const everyPeer = ["0.0.0.0/0", "::/0"];

/**
 * The trust in fields of peers; undefined for none. With only `enable-real-ip`, scheme, host and port are those
 * of the connection.
 */
function trustOf(keys: ConfigKeys): TrustForwardedFor | undefined {
  if (!keys.useForwardedHeaders && !keys.enableRealIp) return undefined;
  return {
    header: keys.forwardedForHeader,
    trustedCidrs: [...(keys.proxyRealIpCidr ?? everyPeer)],
    trustsUrl: keys.useForwardedHeaders,
    privateClients: true,
  };
}
