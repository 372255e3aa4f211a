import { expect } from "chai";
import fc from "fast-check";
import type { KubeObject } from "../../../src/api/object.ts";
import type { PolicyStatus } from "../../../src/translate/policy-status/translator.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld, updateWorld, type World, type WorldChange } from "../../../src/world.ts";
import { ingressManifest, svcClass } from "../../support/manifests.ts";

const own = "gateway.svc-labs.dev/v1alpha1";
const named = (kind: string, name: string, spec: object, namespace = "ns", apiVersion = own): KubeObject =>
  ({
    apiVersion,
    kind,
    metadata: { name, namespace, uid: `${kind}-${namespace}-${name}` },
    spec,
  }) as KubeObject;

const slow = named("RateLimit", "slow", { requestsPerSecond: 1 });
const guard = named("SvcExternalAuth", "guard", { backendRef: { name: "auth", port: 80 } });
const annotated = (
  name: string,
  annotations: Readonly<Record<string, string>>,
  namespace = "ns",
): KubeObject => {
  const ingress = ingressManifest(
    name,
    `${name}.example`,
    ["/"],
    Object.fromEntries(
      Object.entries(annotations).map(([key, value]) => [`ingress.svc-labs.dev/${key}`, value]),
    ),
  );
  return { ...ingress, metadata: { ...ingress.metadata, namespace, uid: `${namespace}-${name}` } };
};

const statusesIn = (
  objects: readonly KubeObject[],
  settings: Partial<TranslateSettings> = {},
): Readonly<Record<string, PolicyStatus>> => {
  const world = createWorld([svcClass, ...objects]);
  const { policyStatuses } = translate(world, { ...defaultTranslateSettings, ...settings });
  return Object.fromEntries(
    policyStatuses.map((one) => [
      `${one.object.kind} ${one.object.metadata.namespace}/${one.object.metadata.name}`,
      one,
    ]),
  );
};
const conditionsOf = (status: PolicyStatus | undefined): readonly string[] =>
  (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);

describe("policy statuses", () => {
  it("an Ingress of another controller is no user", () => {
    const foreign = annotated("foreign", { "rate-limit": "ns/slow" });
    const { spec } = foreign as unknown as { readonly spec: object };
    const theirs = { ...foreign, spec: { ...spec, ingressClassName: "other" } };
    const other = {
      ...svcClass,
      metadata: { name: "other" },
      spec: { controller: "example.com/other" },
    } as KubeObject;
    expect(statusesIn([slow, other, theirs])["RateLimit ns/slow"]?.use.count).to.equal(0);
  });

  it("an Ingress that may not use a policy of another namespace is no user, and with a grant it is one", () => {
    const theirs = annotated("theirs", { "ext-auth": "ns/guard" }, "blog");
    const grant = named(
      "ReferenceGrant",
      "blog",
      {
        from: [{ group: "networking.k8s.io", kind: "Ingress", namespace: "blog" }],
        to: [{ group: "gateway.svc-labs.dev", kind: "SvcExternalAuth" }],
      },
      "ns",
      "gateway.networking.k8s.io/v1beta1",
    );
    expect(statusesIn([guard, theirs])["SvcExternalAuth ns/guard"]?.use.count).to.equal(0);
    expect(statusesIn([guard, theirs, grant])["SvcExternalAuth ns/guard"]?.use).to.include({
      count: 1,
      elsewhere: 1,
    });
  });

  it("a class whose defaults or parameters name a policy is one of its users", () => {
    const parameters = {
      ...named("SvcIngressClassParameters", "defaults", {
        defaultAnnotations: { "ingress.svc-labs.dev/rate-limit": "ns/slow" },
      }),
      apiVersion: "ingress.svc-labs.dev/v1alpha1",
    };
    const withParameters = {
      ...svcClass,
      spec: {
        controller: "svc-labs.dev/gateway-controller",
        parameters: {
          apiGroup: "ingress.svc-labs.dev",
          kind: "SvcIngressClassParameters",
          name: "defaults",
          namespace: "ns",
          scope: "Namespace",
        },
      },
    } as KubeObject;
    const statuses = statusesIn([slow, parameters, withParameters]);
    expect(statuses["RateLimit ns/slow"]?.use.summary).to.equal("SvcIngressClassParameters defaults");
    expect(statuses["SvcIngressClassParameters ns/defaults"]?.use.summary).to.equal("IngressClass svc");
  });

  it("a policy that limits nothing is not accepted, and one with a wrong field is accepted with the exception", () => {
    const statuses = statusesIn([
      named("RateLimit", "nothing", {}),
      named("RetryPolicy", "odd", { attempts: 1, codes: [99, 503] }),
    ]);
    expect(conditionsOf(statuses["RateLimit ns/nothing"])).to.deep.equal(["Accepted=False Invalid"]);
    expect(statuses["RetryPolicy ns/odd"]?.conditions[0]).to.include({
      status: "True",
      message:
        "The policy is valid, except for this: spec.codes holds 99, expected statuses from 100 to 599; it is ignored",
    });
  });

  it("a Service that is missing is an unresolved reference until it exists", () => {
    const service = named("Service", "auth", { ports: [{ port: 80 }] }, "ns", "v1");
    expect(conditionsOf(statusesIn([guard])["SvcExternalAuth ns/guard"])).to.deep.equal([
      "Accepted=True Accepted",
      "ResolvedRefs=False RefNotFound",
    ]);
    expect(conditionsOf(statusesIn([guard, service])["SvcExternalAuth ns/guard"])).to.deep.equal([
      "Accepted=True Accepted",
      "ResolvedRefs=True ResolvedRefs",
    ]);
  });

  it("a key set that cannot be fetched is an unresolved reference", () => {
    const uri = "https://keys.example/jwks";
    const jwt = named("JwtAuth", "id", { issuer: "me", jwks: { remote: { uri } } });
    const world = createWorld([svcClass, jwt, annotated("a", { "auth-jwt": "ns/id" })]);
    const keySets = new Map([[uri, { keys: undefined, unusable: [], problem: "HTTP 500" }]]);
    const { policyStatuses } = translate(world, { ...defaultTranslateSettings }, { keySets });
    expect(conditionsOf(policyStatuses[0])).to.deep.equal([
      "Accepted=True Accepted",
      "ResolvedRefs=False KeySetNotFetched",
    ]);
  });

  it("policies of namespaces that are not watched have no status", () => {
    const elsewhere = named("RateLimit", "slow", { requestsPerSecond: 1 }, "blog");
    const statuses = statusesIn([slow, elsewhere], { watchNamespaces: ["ns"] });
    expect(Object.keys(statuses)).to.deep.equal(["RateLimit ns/slow"]);
  });

  it("a change of an object that names no policy leaves all statuses as they are", () => {
    const settings = { ...defaultTranslateSettings };
    const world = createWorld([
      svcClass,
      slow,
      annotated("a", { "rate-limit": "ns/slow" }),
      ingressManifest("b", "b.example"),
    ]);
    const before = translate(world, settings).policyStatuses;
    const next = updateWorld(world, [{ type: "apply", object: ingressManifest("b", "c.example") }]);
    expect(translate(next, settings).policyStatuses).to.equal(before);
  });

  it("statuses after any edits equal those from scratch", () => {
    const namespace = fc.constantFrom("ns", "blog");
    const reference = fc.tuple(namespace, fc.constantFrom("slow", "guard")).map((parts) => parts.join("/"));
    const ingress = fc
      .record({ name: fc.constantFrom("a", "b", "c"), namespace, rate: reference, auth: reference })
      .map(({ name, namespace: of, rate, auth }) =>
        annotated(name, { "rate-limit": rate, "ext-auth": auth }, of),
      );
    const policy = fc
      .record({
        kind: fc.constantFrom("RateLimit", "SvcExternalAuth"),
        namespace,
        burst: fc.constantFrom(-1, 2),
      })
      .map(({ kind, namespace: of, burst }) =>
        kind === "RateLimit"
          ? named(kind, "slow", { requestsPerSecond: 1, burst }, of)
          : named(kind, "guard", { backendRef: { name: "auth", port: 80 } }, of),
      );
    const service = namespace.map((of) => named("Service", "auth", { ports: [{ port: 80 }] }, of, "v1"));
    const options = namespace.map((of) =>
      named("RouteOptions", "o", { annotations: { "ingress.svc-labs.dev/rate-limit": "ns/slow" } }, of),
    );
    const change = fc
      .tuple(fc.oneof(ingress, policy, service, options), fc.boolean())
      .map(([object, isDelete]): WorldChange =>
        isDelete
          ? {
              type: "delete",
              kind: object.kind as keyof World,
              namespace: object.metadata.namespace ?? "",
              name: object.metadata.name,
            }
          : { type: "apply", object },
      );
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 10 }),
        (edits) => {
          const settings = { ...defaultTranslateSettings };
          let world = createWorld([svcClass]);
          for (const edit of edits) {
            world = updateWorld(world, edit);
            const { policyStatuses } = translate(world, settings);
            expect(policyStatuses).to.deep.equal(
              translate(structuredClone(world), { ...settings }).policyStatuses,
            );
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
