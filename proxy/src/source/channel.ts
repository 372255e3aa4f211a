import { Client, ChannelCredentials, type ChannelOptions } from "@grpc/grpc-js";
import { isIP } from "node:net";
import { createSecureContext, type PeerCertificate } from "node:tls";
import type { Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import {
  formatIdentity,
  identityOfNames,
  isSameIdentity,
  type WorkloadIdentity,
} from "@svc-gateway/proto/identity.ts";
import { maxMessageToProxyBytes, maxMessageToServerBytes, type Keepalive } from "@svc-gateway/proto/wire.ts";
import { grpcTarget } from "./addresses.ts";
import type { ProxyIdentity } from "./proxy-identity.ts";

/** The identity that a proxy expects of its controller. */
export type ControllerName = {
  readonly trustDomain: string;
  readonly identity: WorkloadIdentity;
  /** The name that is sent as SNI, so that the controller can be reached through a proxy that routes by it. */
  readonly host: string;
};

export type ChannelRequest = {
  readonly address: Endpoint;
  readonly controller: ControllerName;
  readonly trustPem: string;
  /** The client certificate; absent for Bootstrap, for which the proxy authenticates with its token. */
  readonly identity?: ProxyIdentity;
  readonly keepalive: Keepalive;
};

/**
 * Creates a client of one replica. It connects on first use, and verifies the chain and the URI of the controller's
 * certificate. Callers close it instead of reconnecting: the stream keeper chooses the next replica. Fails when a
 * bundle or certificate cannot be parsed.
 */
export function createChannel(request: ChannelRequest): Result<Client> {
  const { address, controller, trustPem, identity, keepalive } = request;
  try {
    const secureContext = createSecureContext({
      ca: trustPem,
      minVersion: "TLSv1.3",
      allowPartialTrustChain: true,
      ...(identity !== undefined && { key: identity.privateKeyPem, cert: identity.chainPem }),
    });
    const checkServerIdentity = (_: string, certificate: PeerCertificate): Error | undefined =>
      controllerProblem(controller, certificate);
    const credentials = ChannelCredentials.createFromSecureContext(secureContext, { checkServerIdentity });
    return ok(new Client(grpcTarget(address), credentials, channelOptions(controller, keepalive)));
  } catch (error) {
    return problem(`the connection cannot be prepared: ${textOf(error)}`);
  }
}

function controllerProblem(controller: ControllerName, certificate: PeerCertificate): Error | undefined {
  const shown = identityOfNames(controller.trustDomain, certificate.subjectaltname);
  if (shown !== undefined && isSameIdentity(shown, controller.identity)) return undefined;
  const expected = formatIdentity(controller.identity);
  return new Error(
    `the controller's certificate is for ${shown === undefined ? "no workload" : formatIdentity(shown)}, expected ${expected}`,
  );
}

const channelOptions = ({ host }: ControllerName, keepalive: Keepalive): ChannelOptions => ({
  // A server name must not be an address (RFC 6066 section 3). The certificate is not checked against this name.
  "grpc.ssl_target_name_override": isIP(host) === 0 ? host : "svc-controller",
  "grpc.keepalive_time_ms": keepalive.intervalMs,
  "grpc.keepalive_timeout_ms": keepalive.timeoutMs,
  "grpc.max_receive_message_length": maxMessageToProxyBytes,
  "grpc.max_send_message_length": maxMessageToServerBytes,
  "grpc-node.flow_control_window": 1024 * 1024,
  "grpc.enable_retries": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.use_local_subchannel_pool": 1,
});
