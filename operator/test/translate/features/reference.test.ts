import { defineAnnotation, type AnnotationDefinition } from "@svc-gateway/common/features/definition.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import { parseNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { expect } from "chai";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import type { KubeObject } from "../../../src/api/object.ts";
import { readClassDefaults } from "../../../src/translate/features/class-defaults.ts";
import { resolveReference } from "../../../src/translate/features/reference.ts";
import { createView } from "../../../src/translate/incremental/view.ts";
import { openAnnotations } from "../../../src/translate/ingress/annotations.ts";
import { translate } from "../../../src/translate/translate.ts";
import { createWorld, updateWorld, type World } from "../../../src/world.ts";
import { readCase } from "../golden.ts";

const office = (...deny: string[]): KubeObject =>
  ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "IpAccessControl",
    metadata: { namespace: "infra", name: "offices" },
    spec: { deny },
  }) as KubeObject;

describe("resources that annotations name", () => {
  const { world: without, settings } = readCase("ingress-with-ip-access-control-invalid-missing");

  const featureIn = (world: World): unknown =>
    translate(world, settings)
      .scopes.shared.map((resource) => decodeResource(resource))
      .flatMap((decoded) => (decoded.ok && decoded.value?.type === "route" ? decoded.value.value.routes : []))
      .map(({ features }) => features?.["ip-access-control"])
      .at(0);

  it("a resource that an annotation names takes effect when it is created, changed and deleted", () => {
    expect(featureIn(without)).to.equal(undefined);
    const appeared = updateWorld(without, [{ type: "apply", object: office("10.0.0.0/8") }]);
    expect(featureIn(appeared)).to.deep.equal({ name: "infra/offices", deny: ["10.0.0.0/8"] });
    const changed = updateWorld(appeared, [{ type: "apply", object: office() }]);
    expect(featureIn(changed)).to.deep.equal({ name: "infra/offices", deny: [] });
    const removed = updateWorld(changed, [
      { type: "delete", kind: "IpAccessControl", namespace: "infra", name: "offices" },
    ]);
    expect(featureIn(removed)).to.equal(undefined);
  });
});

describe("annotations that need a grant", () => {
  const users = defineAnnotation({
    name: "users",
    type: "namespaced-name",
    builtIn: "none",
    gatewayApi: "none",
    classDefault: true,
    needsGrant: true,
    onInvalid: "deny",
    fallback: "requests are answered 503",
    doc: "A Secret.",
    parse: parseNamespacedName,
  });
  const { needsGrant: _, ...everybodys } = users;

  const secret = (namespace: string): KubeObject =>
    ({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "users" } }) as KubeObject;

  const grant = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "ReferenceGrant",
    metadata: { namespace: "vault", name: "shops" },
    spec: {
      from: [{ group: "networking.k8s.io", kind: "Ingress", namespace: "shop" }],
      to: [{ group: "", kind: "Secret", name: "users" }],
    },
  } as KubeObject;

  const parameters = {
    apiVersion: "ingress.svc-labs.dev/v1alpha1",
    kind: "SvcIngressClassParameters",
    metadata: { namespace: "defaults", name: "svc" },
    spec: {},
  } as ObjectOf<"SvcIngressClassParameters">;

  const resolve = (options: {
    readonly definition?: AnnotationDefinition<NamespacedName>;
    readonly own?: string;
    readonly default?: string;
    readonly objects?: readonly KubeObject[];
  }) => {
    const ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        namespace: "shop",
        name: "web",
        annotations: options.own === undefined ? {} : { "ingress.svc-labs.dev/users": options.own },
      },
    } as ObjectOf<"Ingress">;
    const parsed = parseNamespacedName(options.default ?? "");
    const defaults = {
      ...readClassDefaults(parameters).defaults,
      get: <T>() => (parsed.ok ? (parsed.value as T) : undefined),
    };
    const world = createWorld([
      ...["shop", "vault", "defaults"].map((namespace) => secret(namespace)),
      ...(options.objects ?? []),
    ]);
    const view = createView(world, () => undefined);
    const { read, context, diagnostics, events } = openAnnotations(ingress, defaults, {
      view,
      httpsPublicPort: 443,
    });
    const found = resolveReference("Secret", options.definition ?? users, read, context);
    return {
      found: found?.metadata.namespace,
      findings: diagnostics.filter(({ reason }) => reason !== "UnknownAnnotation"),
      events,
    };
  };

  it("an annotation that needs a grant refers to another namespace only with a ReferenceGrant", () => {
    expect(resolve({ own: "shop/users" }).found).to.equal("shop");
    expect(resolve({ own: "vault/users" }).found).to.equal(undefined);
    expect(resolve({ own: "vault/users", objects: [grant] })).to.deep.equal({
      found: "vault",
      findings: [],
      events: [],
    });
    expect(resolve({ own: "vault/users", definition: everybodys }).found).to.equal("vault");
  });

  it("a reference without a grant is reported on the Ingress, and reveals nothing about what exists", () => {
    const { findings, events } = resolve({ own: "vault/users" });
    const message =
      "users: no ReferenceGrant permits a reference from Ingress in namespace shop to Secret vault/users; requests are answered 503";
    const prefixed = `ingress.svc-labs.dev/${message}`;
    const object = { kind: "Ingress", namespace: "shop", name: "web" };
    expect(findings).to.deep.equal([
      {
        object,
        field: "metadata.annotations[ingress.svc-labs.dev/users]",
        severity: "error",
        reason: "ReferenceNotPermitted",
        message: prefixed,
      },
    ]);
    expect(events).to.deep.equal([
      { object, type: "Warning", reason: "InvalidAnnotation", message: prefixed },
    ]);
    const missing = resolve({ own: "vault/nobody" });
    expect(missing.findings[0]?.message).to.equal(prefixed.replace("vault/users", "vault/nobody"));
  });

  it("a class default may refer to the namespace of the class parameters, an Ingress may not", () => {
    expect(resolve({ default: "defaults/users" }).found).to.equal("defaults");
    expect(resolve({ own: " ", default: "defaults/users" }).found).to.equal("defaults");
    expect(resolve({ default: "shop/users" }).found).to.equal("shop");
    expect(resolve({ default: "vault/users" }).found).to.equal(undefined);
    expect(resolve({ default: "vault/users", objects: [grant] }).found).to.equal("vault");
    expect(resolve({ own: "defaults/users", default: "defaults/users" }).found).to.equal(undefined);
  });
});
