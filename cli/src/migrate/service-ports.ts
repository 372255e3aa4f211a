/** Converts connection settings, TLS and HTTP/2, which ingress-nginx has per path and this gateway per Service port. */
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import {
  isForAuthorities,
  authorityLabel,
} from "@svc-gateway/operator/translate/certificates/authorities.ts";
import { readBackendSecret } from "@svc-gateway/operator/translate/certificates/backend-secret.ts";
import { isTlsSecret } from "@svc-gateway/operator/translate/certificates/tls-secret.ts";
import { protocolOf } from "@svc-gateway/operator/translate/backends/service-port.ts";
import { createLookup, type World } from "@svc-gateway/operator/world.ts";
import { givenPolicies, sayGiven } from "./given-policies.ts";
import type { ServedUnit } from "./served-units.ts";
import type { Note } from "./written.ts";

/** One entry of `ports` of a SvcBackendPolicy. */
type PortSpec = { readonly port: number; readonly protocol?: "HTTP2"; readonly tls?: object };

export type ServicePorts = {
  /** The ports of a Service (`namespace/name`) that need connection settings; undefined if there are none. */
  readonly of: (service: string) => readonly PortSpec[] | undefined;
  /** The first Ingress (`namespace/name`) that requests settings for one of them. */
  readonly askedBy: (service: string) => string | undefined;
  /** The notes about settings for the backends of a path that cannot be expressed. */
  readonly notesOf: (unit: ServedUnit) => readonly Note[];
  /** The Secrets (`namespace/name`) that policies name and that lack the label. */
  readonly unlabelled: readonly string[];
};

/** Creates a function that reports whether a Service port itself specifies HTTP/2, by the name of its endpoint set. */
export const createHttp2Check = (world: World): ((endpoints: string) => boolean) => {
  const lookup = createLookup(world);
  return (endpoints) => {
    const [namespace = "", name = "", port = ""] = endpoints.split("/");
    const found = lookup("Service", namespace, name)?.spec?.ports?.find((one) => one.port === Number(port));
    return found !== undefined && protocolOf(found) === "http2";
  };
};

/** Whether TLS settings come from annotations of ingress-nginx, not from a policy. */
const isOfIngress = (tls: string): boolean => tls.startsWith("ingress-nginx/");

/** The settings of a port that one path requests. */
type Wish = { readonly unit: ServedUnit; readonly index: number; readonly spec: PortSpec };

/** Chooses the strictest wish, and of equally strict ones the first: all paths to a port see the same certificate. */
const decideAbout = (wishes: readonly Wish[]): Wish | undefined =>
  wishes.toSorted((a, b) => strictness(b.spec) - strictness(a.spec))[0];

function strictness(spec: PortSpec): number {
  if (isPlain(spec)) return 0;
  if (spec.tls === undefined) return 1;
  return isVerified(spec) ? 3 : 2;
}

const isVerified = ({ tls }: PortSpec): boolean => tls !== undefined && !("insecureSkipVerify" in tls);

/** Whether both settings use TLS with the same protocol, and the first does not verify the certificate. */
const differsInVerification = (unverified: PortSpec, verified: PortSpec): boolean =>
  strictness(unverified) === 2 && unverified.protocol === verified.protocol;

/**
 * Collects the ports of all Services to which the units send. If several units request different settings of a port,
 * one of them decides. `needsHttp2` reports whether no other written object specifies HTTP/2 for the unit.
 */
export function collectServicePorts(
  units: readonly ServedUnit[],
  world: World,
  needsHttp2: (unit: ServedUnit) => boolean,
): ServicePorts {
  const secretWith = createSecretFinder(world);
  const given = givenPolicies(world);
  const byService = new Map<string, Map<number, Wish[]>>();
  const unlabelled = new Set<string>();
  const notes = new Map<ServedUnit, Note[]>();
  const note = (unit: ServedUnit, one: Note): void => void notes.set(unit, [...(notes.get(unit) ?? []), one]);
  const noteAll = (unit: ServedUnit, index: number, one: Omit<Note, "property">): void => {
    for (const name of ["tls", "protocol", "followsClient"])
      note(unit, { property: `backends[${index}].${name}`, ...one });
  };
  for (const unit of units) {
    for (const [index, { service, endpoints, secureEndpoints, protocol }] of unit.route.backends.entries()) {
      const [namespace = "", , port] = endpoints?.split("/") ?? [];
      if (endpoints === undefined || namespace !== unit.route.source.namespace) continue;
      const tls = tlsOfBackend(unit, secureEndpoints ?? endpoints);
      const written = tls && writeTls(tls, (wanted) => secretWith(namespace, wanted));
      if (typeof written?.problem === "string") {
        note(unit, {
          property: `backends[${index}].tls`,
          loss: "lost",
          text: written.problem,
          ...(tls?.unverified !== true && { closes: true as const }),
        });
        continue;
      }
      if (written?.unlabelled !== undefined) unlabelled.add(`${namespace}/${written.unlabelled}`);
      const spec: PortSpec = {
        port: Number(port),
        ...(protocol === "http2" && needsHttp2(unit) && { protocol: "HTTP2" as const }),
        ...(written?.tls && {
          tls: { ...written.tls, ...(secureEndpoints !== undefined && { followClient: true }) },
        }),
      };
      const policy = given.get(service);
      if (policy !== undefined) {
        if (isPlain(spec) || policy.spec.ports?.some((one) => one.port === spec.port && one.tls)) continue;
        const answer = isVerified(spec) ? "; requests are answered 403" : "";
        const text = `${sayGiven(service, policy)}, which does not say how port ${spec.port} is connected to${answer}`;
        noteAll(unit, index, { loss: "lost", text, ...(isVerified(spec) && { closes: true as const }) });
        continue;
      }
      const ports = byService.get(service) ?? new Map<number, Wish[]>();
      byService.set(service, ports);
      ports.set(spec.port, [...(ports.get(spec.port) ?? []), { unit, index, spec }]);
    }
  }
  const decided = new Map<string, { readonly ports: readonly PortSpec[]; readonly by: string }>();
  for (const [service, wishes] of byService) {
    const chosen = [...wishes.values()].flatMap((ofPort) => {
      const one = decideAbout(ofPort);
      return one === undefined || isPlain(one.spec) ? [] : [one];
    });
    const [first] = chosen;
    if (first === undefined) continue;
    const ports = chosen.map(({ spec }) => spec).sort((a, b) => a.port - b.port);
    decided.set(service, { ports, by: first.unit.ingress });
    for (const one of chosen) {
      const others = (wishes.get(one.spec.port) ?? []).filter(
        ({ spec }) => canonicalJson(spec) !== canonicalJson(one.spec),
      );
      for (const { unit, index, spec } of others) {
        const by = one.unit.ingress;
        const text = `Port ${one.spec.port} of Service ${service} is connected to as Ingress ${by} says, for all paths`;
        const isMore = isVerified(one.spec) && differsInVerification(spec, one.spec);
        noteAll(unit, index, { loss: isMore ? "changed" : "lost", text, decidedBy: by });
      }
    }
  }
  return {
    of: (service) => decided.get(service)?.ports,
    askedBy: (service) => decided.get(service)?.by,
    notesOf: (unit) => notes.get(unit) ?? [],
    unlabelled: [...unlabelled],
  };
}

/** Whether a port needs no settings. */
const isPlain = (spec: PortSpec): boolean => Object.keys(spec).length === 1;

/** The TLS settings of an endpoint set if they come from annotations. */
export function tlsOfBackend({ endpointsOf, tlsOf }: ServedUnit, endpoints: string): BackendTls | undefined {
  const name = endpointsOf(endpoints)?.tls;
  return name !== undefined && isOfIngress(name) ? tlsOf(name) : undefined;
}

type FoundSecret = { readonly name: string; readonly isLabelled: boolean };
type WrittenTls = {
  readonly tls?: object;
  /** The reason why the settings cannot be written. */
  readonly problem?: string;
  readonly unlabelled?: string;
};

function writeTls(
  { hostname, hidesServerName, authorities, unverified, maxIntermediates, certificate }: BackendTls,
  secretWith: (wanted: Pick<BackendTls, "authorities" | "certificate">) => FoundSecret | undefined,
): WrittenTls {
  if (unverified !== true && (hostname === "" || authorities === undefined)) {
    return { problem: "Backends are not connected to, because their certificates cannot be verified" };
  }
  const needsSecret = certificate !== undefined || authorities !== undefined;
  const secret = needsSecret
    ? secretWith({ ...(authorities !== undefined && { authorities }), ...(certificate && { certificate }) })
    : undefined;
  if (needsSecret && secret === undefined) {
    return { problem: "The Secret with the certificates is not in the namespace of the Service" };
  }
  return {
    tls: {
      ...(unverified === true && { insecureSkipVerify: true }),
      ...(hostname !== "" && { hostname }),
      ...(hidesServerName === true && { sendServerName: false }),
      ...(secret && { secretRef: { name: secret.name } }),
      ...(maxIntermediates !== undefined && { maxIntermediates }),
    },
    ...(secret?.isLabelled === false && { unlabelled: secret.name }),
  };
}

/** Creates a function that finds the Secret of a namespace with given authorities and exactly this certificate. */
function createSecretFinder(
  world: World,
): (namespace: string, wanted: Pick<BackendTls, "authorities" | "certificate">) => FoundSecret | undefined {
  return (namespace, { authorities, certificate }) => {
    for (const secret of world.Secret) {
      if (secret.metadata.namespace !== namespace) continue;
      const read = readBackendSecret(secret);
      if (!read.ok) continue;
      const isSame =
        (authorities === undefined || read.value.authorities === authorities) &&
        canonicalJson(read.value.certificate ?? {}) === canonicalJson(certificate ?? {});
      if (isSame) {
        const isLabelled = isTlsSecret(secret) || isForAuthorities(secret);
        return { name: secret.metadata.name, isLabelled };
      }
    }
    return undefined;
  };
}

/** The label that permits policies to name a Secret of type Opaque. */
export const authorityLabels: Readonly<Record<string, string>> = { [authorityLabel]: "true" };
