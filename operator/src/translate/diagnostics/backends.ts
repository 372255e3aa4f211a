/** Findings about Services, their ports and endpoints. */
import type { EndpointUse } from "../backends/service-port-ref.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

export const serviceNotFound = (place: Place, service: string): Diagnostic =>
  finding("error", "ServiceNotFound")(
    place,
    `Service ${service} does not exist; requests to it are answered 503`,
  );

export const servicePortNotFound = (place: Place, service: string, port: string): Diagnostic =>
  finding("error", "ServicePortNotFound")(
    place,
    `Service ${service} has no TCP port ${quote(port)}; requests to it are answered 503`,
  );

export const targetPortUsed = (
  place: Place,
  wanted: string,
  { port, name }: { readonly port: number; readonly name?: string },
): Diagnostic =>
  finding("warning", "TargetPortUsed")(
    place,
    `The Service has no port ${quote(wanted)}, which is a targetPort; its port ${port}${name === undefined ? "" : ` (${name})`} is used, as in ingress-nginx`,
  );

export const externalNameNotAllowed = (place: Place, service: string): Diagnostic =>
  finding("error", "ExternalNameNotAllowed")(
    place,
    `Service ${service} is of type ExternalName, which is only served with --allow-external-name; requests to it are answered 503`,
  );

export const noEndpoints = (
  place: Place,
  port: number,
  why: string,
  uses: readonly EndpointUse[],
): Diagnostic =>
  finding("warning", "NoEndpoints")(
    place,
    `Port ${port} has no endpoint, because ${why}; ${uses.map((use) => withoutEndpoints[use]).join(", and ")}`,
  );

/** `unserved` has the uses of the endpoints if none is left. */
export const ownPortRefused = (
  place: Place,
  port: number,
  endpoint: string,
  count: number,
  unserved: readonly EndpointUse[] | undefined,
): Diagnostic =>
  finding("error", "OwnPortRefused")(
    place,
    `Port ${port} leads to ${endpoint}${count > 1 ? ` and ${count - 1} more` : ""}, which ${count > 1 ? "are ports" : "is a port"} of the gateway itself and cannot be used as ${count > 1 ? "backends" : "a backend"}; ${unserved === undefined ? "only its other endpoints are used" : unserved.map((use) => withoutEndpoints[use]).join(", and ")}`,
  );

const withoutEndpoints: { readonly [U in EndpointUse]: string } = {
  checks: "requests that need its authorization are answered 503",
  connections: "connections to it are reset",
  copies: "requests are not mirrored to it",
  datagrams: "datagrams to it are dropped",
  errors: "errors are not replaced by its answers",
  requests: "requests to it are answered 503",
};

export const invalidSessionKey = (place: Place): Diagnostic =>
  finding("error", "InvalidSessionKey")(
    place,
    "The Secret does not hold a key of 32 bytes; cookies keep no session until it does or the Secret is deleted",
  );
