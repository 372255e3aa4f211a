import { expect } from "chai";
import { definitionOf } from "../../operator/src/api/kinds.ts";
import { standInKinds } from "../../operator/src/api/stand-in.ts";
import { invalidPolicies } from "../../operator/test/support/invalid-policies.ts";
import { ask, call } from "../support/api.ts";
import { ingress } from "../support/ingress.ts";
import { poll } from "../support/poll.ts";
import { kubectl } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";

type Schema = { readonly properties: Readonly<Record<string, object>>; readonly [field: string]: unknown };
type Version = { readonly schema: { readonly openAPIV3Schema: Schema } };
type Definition = { readonly spec: { readonly versions: readonly Version[] } };
type Entry = {
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly message: string;
  }[];
};
type Policy = {
  readonly status?: { readonly controllers?: readonly Entry[]; readonly ancestors?: readonly Entry[] };
};
type Events = {
  readonly items: readonly {
    readonly reason: string;
    readonly note: string;
    readonly regarding: { kind: string };
  }[];
};

/** The schema of an earlier release, which accepted any spec. */
const loosened = (version: Version): Version => {
  const { "x-kubernetes-validations": _rules, ...schema } = version.schema.openAPIV3Schema;
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const properties = { ...version.schema.openAPIV3Schema.properties, spec };
  return { ...version, schema: { openAPIV3Schema: { ...schema, properties } } };
};

describe("policies that were written before the schema of their kind was made stricter", () => {
  const sandbox = useSandbox("invalid-policies");
  const kinds = standInKinds.filter((kind) => kind !== "BackendTLSPolicy");

  const collectionOf = (kind: (typeof kinds)[number]): string => {
    const { group, versions, plural } = definitionOf(kind);
    return `/apis/${group}/${versions[0]}/namespaces/${sandbox.namespace}/${plural}`;
  };

  /** Creates a policy while the schema of its definition accepts it. */
  async function createInvalid(kind: (typeof kinds)[number]): Promise<void> {
    const { group, versions, plural } = definitionOf(kind);
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${group}`;
    const { spec } = await ask<Definition>(path);
    const change = (next: readonly Version[]) =>
      ask(path, { method: "PATCH", body: { spec: { versions: next } } });
    const [content] = invalidPolicies[kind];
    const body = { apiVersion: `${group}/${versions[0]}`, kind, metadata: { name: "p" }, spec: content };
    const create = async (query = ""): Promise<number> =>
      (await call(`${collectionOf(kind)}${query}`, { method: "POST", body })).status;
    await change(spec.versions.map(loosened));
    try {
      await poll(`the loosened schema of ${kind}`, async () => (await create()) === 201);
    } finally {
      await change(spec.versions);
    }
    const dryRun = { ...body, metadata: { name: "other" } };
    await poll(
      `the schema of ${kind}`,
      async () =>
        (await call(`${collectionOf(kind)}?dryRun=All`, { method: "POST", body: dryRun })).status === 422,
    );
  }

  const acceptedOf = async (kind: (typeof kinds)[number]): Promise<string | undefined> => {
    const { status = {} } = await ask<Policy>(`${collectionOf(kind)}/p`);
    const { conditions = [] } = (status.controllers ?? status.ancestors)?.[0] ?? {};
    const found = conditions.find(({ type }) => type === "Accepted");
    return found && `${found.status}: ${found.message}`;
  };

  for (const kind of kinds) {
    it(`the status of an invalid ${kind}, and an Event about it, say what is wrong with it`, async () => {
      await createInvalid(kind);
      const [, problem, effect] = invalidPolicies[kind];
      const message = `${problem}; ${effect}`;
      await poll(`the status of ${kind}`, async () => (await acceptedOf(kind)) === `False: ${message}`);
      await poll(`the Event about ${kind}`, async () => {
        const path = `/apis/events.k8s.io/v1/namespaces/${sandbox.namespace}/events`;
        const { items } = await ask<Events>(path);
        return items.some(
          (event) =>
            event.regarding.kind === kind && event.reason === "InvalidObject" && event.note === message,
        );
      });
    });
  }

  it("the Event of an Ingress says that the policy that it names is not valid", async () => {
    await sandbox.apply(
      ingress({
        name: "limited",
        host: "invalid-policies.e2e.example",
        annotations: { "rate-limit": `${sandbox.namespace}/p` },
        paths: [{ service: "absent" }],
      }),
    );
    const notes = (): Promise<string> =>
      kubectl([
        "--namespace",
        sandbox.namespace,
        "get",
        "events.events.k8s.io",
        "--output",
        "jsonpath={..note}",
      ]);
    const expected = `RateLimit ${sandbox.namespace}/p is not valid: ${invalidPolicies.RateLimit[1]}`;
    await poll("the Event of the Ingress", async () => (await notes()).includes(expected));
    expect(await notes()).to.include("the rate of requests is not limited");
  });
});
