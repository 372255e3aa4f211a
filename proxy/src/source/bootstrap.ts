import { readFile } from "node:fs/promises";
import { status, type ServiceError } from "@grpc/grpc-js";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { fail, ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { BootstrapRequest, BootstrapResponse } from "@svc-gateway/proto/generated/discovery.js";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { wireVersion, type Keepalive } from "@svc-gateway/proto/wire.ts";
import { resolveEndpoint } from "./addresses.ts";
import { createChannel, type ControllerName } from "./channel.ts";
import { createKeyPair } from "./key-pair.ts";
import { readProxyIdentity, type ProxyIdentity } from "./proxy-identity.ts";
import type { ReplicaWatch } from "./replica-watch.ts";
import { firstSuccess, type Attempt } from "./staggered.ts";
import type { TrustRoots } from "./trust-roots.ts";

export type BootstrapClientOptions = {
  readonly endpoint: Endpoint;
  readonly controller: ControllerName;
  readonly trust: TrustRoots;
  /** The file of the projected token with the audience of the discovery channel; the kubelet renews it in place. */
  readonly tokenPath: string;
  /** The name of the pod. */
  readonly nodeId: string;
  readonly keepalive: Keepalive;
  readonly replicas: ReplicaWatch;
  readonly random: () => number;
  readonly clock: Clock;
};

export type BootstrapFailure = {
  readonly message: string;
  /** Whether a retry is pointless, because the controller uses another wire version. */
  readonly isPermanent: boolean;
};

const callTimeoutMs = 15_000;
const staggerMs = 1_000;
const maxTokenBytes = 16 * 1024;

/**
 * Requests an identity once, with a new key and the current token file, from the replicas until one of them signs. The
 * key and the token never appear in messages or logs. See docs/discovery.md, "Bootstrap".
 */
export async function requestIdentity(
  options: BootstrapClientOptions,
  signal: AbortSignal,
): Promise<Result<ProxyIdentity, BootstrapFailure>> {
  const { endpoint, replicas, random, clock, trust, nodeId } = options;
  const token = await readToken(options.tokenPath);
  if (!token.ok) return temporary(token.error.message);
  const trustPem = await trust.read();
  if (!trustPem.ok) return temporary(trustPem.error.message);
  const addresses = await resolveEndpoint(endpoint, replicas.lookup, random);
  if (!addresses.ok) return temporary(addresses.error.message);
  const { privateKeyPem, csrPem } = await createKeyPair(nodeId);
  const request = new BootstrapRequest({
    sa_token: token.value,
    csr_pem: Buffer.from(csrPem),
    wire_version: wireVersion,
  });
  const bytes = Buffer.from(request.serialize());
  const attemptAt =
    (host: string): Attempt<BootstrapResponse, BootstrapFailure> =>
    (attemptSignal) => {
      const address = { host, port: endpoint.port };
      return call(options, { address, trustPem: trustPem.value, request: bytes }, attemptSignal);
    };
  const answer = await firstSuccess(
    addresses.value.map(({ host }) => attemptAt(host)),
    {
      staggerMs,
      clock,
      signal,
      lateAttempts: (add) => replicas.follow((hosts) => add(hosts.map(attemptAt))),
      discard: () => {},
    },
  );
  if (!answer.ok) return fail(mostRelevant(answer.error));
  const chainPem = Buffer.from(answer.value.svid_cert_pem).toString("latin1");
  const identity = readProxyIdentity(privateKeyPem, chainPem, clock.nowMs());
  if (!identity.ok) return temporary(identity.error.message);
  trust.learn(Buffer.from(answer.value.trust_bundle_pem).toString("latin1"));
  return ok(identity.value);
}

async function readToken(path: string): Promise<Result<string>> {
  try {
    const content = await readFile(path);
    const token = content
      .subarray(0, maxTokenBytes + 1)
      .toString("latin1")
      .trim();
    return token === "" || token.length > maxTokenBytes
      ? problem(`the token file ${path} is empty or larger than ${maxTokenBytes} bytes`)
      : ok(token);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
    return problem(`the token file ${path} cannot be read: ${code}`);
  }
}

type CallRequest = { readonly address: Endpoint; readonly trustPem: string; readonly request: Buffer };

function call(
  { controller, keepalive }: BootstrapClientOptions,
  { address, trustPem, request }: CallRequest,
  signal: AbortSignal,
): Promise<Result<BootstrapResponse, BootstrapFailure>> {
  const channel = createChannel({ address, controller, trustPem, keepalive });
  if (!channel.ok) return Promise.resolve(temporary(channel.error.message));
  const client = channel.value;
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Bootstrap;
  return new Promise((resolve) => {
    const settle = (error: ServiceError | null, answer?: Buffer): void => {
      signal.removeEventListener("abort", onAbort);
      client.close();
      resolve(error === null ? decode(answer) : fail(failureOf(address, error)));
    };
    const unary = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      { deadline: Date.now() + callTimeoutMs },
      settle,
    );
    const onAbort = (): void => unary.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function decode(answer: Buffer | undefined): Result<BootstrapResponse, BootstrapFailure> {
  try {
    return answer === undefined
      ? temporary("the bootstrap response is empty")
      : ok(BootstrapResponse.deserialize(answer));
  } catch {
    return temporary("the bootstrap response cannot be decoded");
  }
}

const failureOf = ({ host }: Endpoint, { code, details }: ServiceError): BootstrapFailure => ({
  message: `${host}: ${status[code] ?? code}: ${details.slice(0, 300)}`,
  isPermanent: code === status.FAILED_PRECONDITION,
});

function mostRelevant(failures: readonly BootstrapFailure[]): BootstrapFailure {
  const permanent = failures.find(({ isPermanent }) => isPermanent);
  return permanent ?? failures.at(-1) ?? { message: "no controller has an address", isPermanent: false };
}

const temporary = (message: string): Result<never, BootstrapFailure> => fail({ message, isPermanent: false });
