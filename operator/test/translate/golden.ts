/** Golden cases: `<case>.in.yaml` holds manifests, `<case>.out.yaml` everything that their translation gives. */
import { createPublicKey, X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import type { ClientCertPort, ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import type { OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import {
  decodeResource,
  resourceSchemas,
  type Decoded,
  type Resource,
} from "@svc-gateway/common/ir/resource.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { parseAllDocuments, stringify } from "yaml";
import { formatRef, nameOf, refOf, type KubeObject } from "../../src/api/object.ts";
import { validateObject } from "../../src/api/validate.ts";
import type { DesiredCondition } from "../../src/translate/condition.ts";
import type { PolicyAncestor } from "../../src/translate/policy-ancestors.ts";
import {
  defaultTranslateSettings,
  type DedicatedSettings,
  type TranslateSettings,
} from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld, type World } from "../../src/world.ts";

export const testdata = new URL("./testdata/", import.meta.url);

export const caseNames = (): readonly string[] =>
  readdirSync(testdata)
    .filter((file) => file.endsWith(".in.yaml"))
    .map((file) => file.slice(0, -".in.yaml".length))
    .sort();

export type GoldenCase = {
  readonly world: World;
  readonly settings: TranslateSettings;
  readonly nowMs: number | undefined;
  readonly ownPorts: OwnPorts;
};

type Options = Partial<Omit<TranslateSettings, "ingressNginx" | "dedicated">> & {
  readonly dedicated?: Omit<DedicatedSettings, "podTemplate"> & Partial<DedicatedSettings>;
  readonly ingressNginx?: Partial<TranslateSettings["ingressNginx"]>;
  readonly now?: string;
  readonly ownPorts?: Readonly<Record<string, readonly number[]>>;
};

/**
 * Reads a case. A document of kind `TranslateSettings` sets options (`now` is the time, `ownPorts` the ports of the
 * gateway's pods by address); every other one is a manifest. A manifest that validation rejects is used as written:
 * translation must cope with it too.
 */
export function readCase(name: string): GoldenCase {
  const text = readFileSync(new URL(`${name}.in.yaml`, testdata), "utf8");
  const objects: KubeObject[] = [];
  let options: Options = {};
  for (const document of parseAllDocuments(text)) {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const value = document.toJS() as KubeObject & { readonly spec?: object };
    if (value.kind === "TranslateSettings") options = { ...value.spec };
    else objects.push(complete(value));
  }
  const { now, ownPorts = {}, ingressNginx, dedicated, ...settings } = options;
  return {
    world: createWorld(objects),
    settings: {
      ...defaultTranslateSettings,
      ...settings,
      ...(dedicated && { dedicated: { ...dedicated, podTemplate: dedicated.podTemplate ?? {} } }),
      ingressNginx: { ...defaultTranslateSettings.ingressNginx, ...ingressNginx },
    },
    nowMs: now === undefined ? undefined : Date.parse(now),
    ownPorts: { addresses: Object.entries(ownPorts).map(([host, ports]) => ({ host, ports })) },
  };
}

function complete(value: KubeObject): KubeObject {
  const validated = validateObject(value);
  if (validated.ok) return validated.value.object;
  return { ...value, metadata: { namespace: "default", ...value.metadata } };
}

/** Translates a case and writes all of the result as text. */
export function renderCase({ world, settings, nowMs, ownPorts }: GoldenCase): string {
  const translation = translate(world, settings, { ownPorts, ...(nowMs !== undefined && { nowMs }) });
  return stringify(
    {
      resources: renderResources(translation.scopes.shared),
      diagnostics: translation.diagnostics.map(renderDiagnostic),
      events: translation.events.map(({ object, type, reason, message }) => ({
        object: formatRef(object),
        event: `${type} ${reason}`,
        message,
      })),
      conflicts: translation.conflicts,
      ...renderReports(translation),
      ...renderStatuses(translation),
      ...renderProvisioned(translation),
      ...(translation.backendPolicies.length > 0 && {
        backendPolicies: Object.fromEntries(
          translation.backendPolicies.map(({ object, ancestors }) => [
            `${object.metadata.namespace}/${object.metadata.name}`,
            ancestors.map(renderAncestor),
          ]),
        ),
      }),
      ...(translation.gatewayPolicies.length > 0 && {
        gatewayPolicies: Object.fromEntries(
          translation.gatewayPolicies.map(({ object, ancestors }) => [
            formatRef(refOf(object)),
            ancestors.map(renderAncestor),
          ]),
        ),
      }),
      ...(translation.policyStatuses.length > 0 && {
        policyStatuses: Object.fromEntries(
          translation.policyStatuses.map(({ object, conditions, use }) => [
            formatRef(refOf(object)),
            { conditions: conditions.map(renderCondition), usedBy: use },
          ]),
        ),
      }),
      ...(translation.backendTlsPolicies.length > 0 && {
        backendTlsPolicies: Object.fromEntries(
          translation.backendTlsPolicies.map(({ object, ancestors }) => [
            `${object.metadata.namespace}/${object.metadata.name}`,
            Object.fromEntries(
              ancestors.map(({ gateway, conditions }) => [gateway.name, conditions.map(renderCondition)]),
            ),
          ]),
        ),
      }),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

/** The outcome of each annotation of ingress-nginx. */
function renderReports({ nginxReports }: Translation): object {
  const annotated = nginxReports.filter(({ verdicts }) => verdicts.length > 0);
  if (annotated.length === 0) return {};
  const reports = annotated.map(({ object, verdicts }) => [
    formatRef(object),
    Object.fromEntries(
      verdicts.map(({ key, outcome, text }) => [key, text === "" ? outcome : `${outcome}: ${text}`]),
    ),
  ]);
  const unprotected = annotated
    .filter(({ unprotectedPaths }) => unprotectedPaths > 0)
    .map(({ object, unprotectedPaths }) => [formatRef(object), unprotectedPaths]);
  return {
    annotations: Object.fromEntries(reports) as unknown,
    ...(unprotected.length > 0 && { unprotectedPaths: Object.fromEntries(unprotected) as unknown }),
  };
}

/** The dedicated proxies and VIPs of Gateways; empty in a world without any. */
function renderProvisioned({ scopes, dedicated, vips }: Translation): object {
  const byGateway = dedicated.map(({ gateway, serviceAccount, state, objects, keepsService }) => [
    nameOf(refOf(gateway)),
    { serviceAccount, state, keepsService, objects },
  ]);
  const byScope = scopes.dedicated.map(({ gateway, resources }) => [
    formatNamespacedName(gateway),
    renderResources(resources),
  ]);
  return {
    ...(byScope.length > 0 && { scopes: Object.fromEntries(byScope) as unknown }),
    ...(byGateway.length > 0 && { dedicated: Object.fromEntries(byGateway) as unknown }),
    ...(vips.length > 0 && {
      vips: Object.fromEntries(vips.map(({ service, state }) => [service.metadata.name, { state, service }])),
    }),
  };
}

const renderAncestor = ({ target, reason, message }: PolicyAncestor): string =>
  `${target.name}${target.sectionName === undefined ? "" : `/${target.sectionName}`}: ${reason}: ${message}`;

/** The statuses of Gateway API objects; nothing in a world without any. */
function renderStatuses({ gatewayStatuses }: Translation): object {
  const { gateways, listenerSets, routes } = gatewayStatuses;
  const statuses = {
    ...Object.fromEntries(
      [...gateways, ...listenerSets].map(({ object, conditions, listeners }) => [
        formatRef(refOf(object)),
        {
          conditions: conditions.map(renderCondition),
          listeners: Object.fromEntries(
            listeners.map((listener) => [
              listener.name,
              {
                supportedKinds: listener.supportedKinds.map(({ kind }) => kind).join(", "),
                attachedRoutes: listener.attachedRoutes,
                conditions: listener.conditions.map(renderCondition),
                ...(listener.unprogrammable && { unprogrammable: listener.unprogrammable.reason }),
              },
            ]),
          ),
        },
      ]),
    ),
    ...Object.fromEntries(
      routes.map(({ object, parents }) => [
        formatRef(refOf(object)),
        parents.map(({ parentRef, conditions }) => ({
          parentRef,
          conditions: conditions.map(renderCondition),
        })),
      ]),
    ),
  };
  return Object.keys(statuses).length === 0 ? {} : { statuses };
}

const renderCondition = ({ type, status, reason, message }: DesiredCondition): string =>
  `${type}=${status} ${reason}: ${message}`;

const renderDiagnostic = ({
  object,
  severity,
  reason,
  field,
  message,
}: Translation["diagnostics"][number]) => ({
  object: `${object.kind} ${object.namespace === undefined ? "" : `${object.namespace}/`}${object.name}`,
  ...(field !== undefined && { field }),
  finding: `${severity} ${reason}`,
  message,
});

/** Resources in key order; one that equals an earlier one is shown by the key of that. */
function renderResources(resources: readonly Resource[]): Record<string, unknown> {
  const rendered: Record<string, unknown> = {};
  const keyOfBody = new Map<string, string>();
  for (const resource of resources.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const earlier = keyOfBody.get(resource.body);
    const decoded = decodeResource(resource);
    if (!decoded.ok || decoded.value === undefined) throw new Error(`${resource.key} cannot be decoded`);
    rendered[resource.key] = earlier === undefined ? renderValue(inOrder(decoded.value)) : `like ${earlier}`;
    keyOfBody.set(resource.body, earlier ?? resource.key);
  }
  return rendered;
}

/** Properties in the order of their schema: decoding leaves them in that of the body. */
const inOrder = ({ type, key, value }: Decoded): Decoded =>
  ({ type, key, value: resourceSchemas[type].parse(value) }) as Decoded;

/** Renders a value, with certificates by their contents instead of their PEM, and by the first digits of their ids. */
function renderValue({ type, value }: Decoded): unknown {
  if (type === "clientcert") return describeClientCerts(value);
  if (type === "route")
    return {
      ...value,
      ...describeRules(value),
      routes: value.routes.map((route) => ({ ...route, ...describeRules(route) })),
    };
  if (type === "backendtls") return describeBackendTls(value);
  if (type === "backendcert" && value.certificate !== undefined) {
    const { chainPem, keyPem } = value.certificate;
    return { certificate: { chain: describeChain(chainPem), key: describeKey(keyPem) } };
  }
  if (type !== "tls") return value;
  const certificates = Object.entries(value.certificates).map(([id, { chainPem, keyPem }]) => [
    short(id),
    { chain: describeChain(chainPem), key: describeKey(keyPem) },
  ]);
  return {
    certificates: Object.fromEntries(certificates) as unknown,
    ...(value.closed !== undefined && { closed: value.closed }),
    hosts: value.hosts.map((host) => ({ ...host, certificates: host.certificates.map(short) })),
  };
}

const short = (id: string): string => id.slice(0, 12);

const describeBackendTls = (value: BackendTls): unknown => {
  const { authorities, certificate } = value;
  return {
    ...value,
    ...(authorities?.startsWith("-----") === true && { authorities: describeChain(authorities) }),
    ...(certificate && {
      certificate: { chain: describeChain(certificate.chainPem), key: describeKey(certificate.keyPem) },
    }),
  };
};

const describeClientCerts = ({ authorities, hosts }: ClientCertPort): unknown => ({
  authorities: Object.fromEntries(
    Object.entries(authorities).map(([id, pem]) => [short(id), describeChain(pem)]),
  ),
  hosts: hosts.map((host) => ({
    ...host,
    ...(host.authorities !== undefined && { authorities: short(host.authorities) }),
  })),
});

const describeRules = ({ clients }: { readonly clients?: ClientRules | undefined }): object =>
  clients?.authorities === undefined
    ? {}
    : { clients: { ...clients, authorities: short(clients.authorities) } };

const describeChain = (pem: string): readonly string[] =>
  (pem.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? []).map((block) => {
    const { subject, issuer, validTo } = new X509Certificate(block);
    return `${subject} by ${issuer} until ${validTo}`;
  });

function describeKey(pem: string): string {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
  const { namedCurve = "", modulusLength = "" } = asymmetricKeyDetails ?? {};
  return `${asymmetricKeyType} ${namedCurve}${modulusLength}`.trim();
}
