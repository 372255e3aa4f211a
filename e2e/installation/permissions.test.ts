import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { namespace } from "../deploy/release.ts";
import { ask } from "../support/api.ts";
import { gateway, gatewayApi, httpListener } from "../support/gateway-api.ts";
import { waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { provider } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";

type AuditEvent = {
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
  /** The decision of authorization; admission may still reject an allowed request. */
  readonly annotations?: { readonly "authorization.k8s.io/decision"?: "allow" | "forbid" };
};

type Role = {
  readonly metadata: { readonly creationTimestamp: string };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
};

const roles = "/apis/rbac.authorization.k8s.io/v1";

/** Permissions that are used only in situations that these tests do not cause, with these situations. */
const rarely: readonly (readonly [permission: RegExp, when: string])[] = [
  [
    /^[a-z.-]+\.(k8s\.io|svc-labs\.dev)\/[a-z]+ get$/,
    "another writer has changed a status at the same moment",
  ],
  [/^\/(configmaps|services|secrets) get$/, "an object was not held that is wanted now"],
  [/^\/services create, /, "a shared Gateway asks for an address"],
  [/^events.k8s.io\/events get$/, "another leader has recorded the Event before"],
  [/^events.k8s.io\/events patch$/, "something has lasted for a minute"],
  [
    /^(apps|autoscaling|policy)?\/[a-z]+ create$/,
    "never: a patch that creates an object needs it, and is recorded as a patch; but for Services, of which one is tried when a Gateway asks for an address",
  ],
  [
    /^gateway.networking.k8s.io\/gateways\/finalizers update$/,
    "admission looks for it, and asks for nothing",
  ],
  [/^\/(configmaps|secrets) patch, /, "the certificate authority is replaced"],
  [/^\/pods get, /, "a proxy was rejected, for the Event about it"],
];

/**
 * Compares the requests of the installation to the API server with the permissions of its roles. Runs late, when the
 * other tests have caused every kind of request.
 */
describe("the permissions of the chart", () => {
  const sandbox = useSandbox("permissions");
  let readEvents: () => readonly AuditEvent[];

  before(async function () {
    await waitUntilWhole();
    const file = await provider("audit-log");
    // kind has no audit log.
    if (!existsSync(file)) return this.skip();
    // An earlier installation lost its permissions shortly before it ended.
    const { metadata } = await ask<Role>(`${roles}/clusterroles/${namespace}-svc-controller`);
    const sinceMs = Date.parse(metadata.creationTimestamp);
    const ofNamespace = `system:serviceaccount:${namespace}:`;
    readEvents = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line.includes(ofNamespace))
        .map((line) => JSON.parse(line) as AuditEvent)
        .filter(
          ({ user, objectRef, requestReceivedTimestamp }) =>
            user.username.startsWith(ofNamespace) &&
            objectRef !== undefined &&
            Date.parse(requestReceivedTimestamp) >= sinceMs,
        );
  });

  /** The permission for a request as `group/resource verb`, in the terms of a rule of a role. */
  const permissionOf = ({ verb, objectRef }: AuditEvent): string => {
    const { apiGroup = "", resource = "", subresource } = objectRef ?? {};
    return `${apiGroup}/${resource}${subresource === undefined ? "" : `/${subresource}`} ${verb}`;
  };

  const granted = async (path: string): Promise<ReadonlySet<string>> => {
    const { rules } = await ask<Role>(`${roles}/${path}`);
    return new Set(
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`)),
        ),
      ),
    );
  };

  /**
   * Ignores denials of requests that were also allowed: a newly started API server rejects requests until it has read
   * the roles.
   */
  it("the permissions are sufficient: no request was only ever denied", () => {
    const events = readEvents();
    const withDecision = (decision: "allow" | "forbid"): ReadonlySet<string> =>
      new Set(
        events
          .filter(({ annotations }) => annotations?.["authorization.k8s.io/decision"] === decision)
          .map(permissionOf),
      );
    const allowed = withDecision("allow");
    const refused = [...withDecision("forbid")].filter((permission) => !allowed.has(permission));
    expect(refused).to.deep.equal([]);
    expect(events.length).to.be.above(0);
  });

  it("the permissions are minimal: every one is used", async () => {
    await sandbox.apply(...objectsWithStatuses, ...dedicatedGateway);
    const [everywhere, here] = await Promise.all([
      granted(`clusterroles/${namespace}-svc-controller`),
      granted(`namespaces/${namespace}/roles/svc-controller`),
    ]);
    const all = [...everywhere, ...[...here].map((permission) => `${permission}, in ${namespace}`)];
    const expected = all.filter((permission) => !rarely.some(([pattern]) => pattern.test(permission)));
    const isAllUsed = (permissions: readonly string[]): boolean => {
      const used = new Set(
        readEvents().map((event) => {
          const permission = permissionOf(event);
          const isHere = event.objectRef?.namespace === namespace && here.has(permission);
          return isHere ? `${permission}, in ${namespace}` : permission;
        }),
      );
      const unused = permissions.filter((permission) => !used.has(permission));
      if (unused.length > 0) throw new Error(unused.join(", "));
      return true;
    };
    const isOfEnd = (permission: string): boolean => permission.includes(" delete");
    await poll("what is granted to be asked for", () => isAllUsed(expected.filter((one) => !isOfEnd(one))));
    await sandbox.delete("gateway", "permissions");
    await sandbox.delete("gateway", "permissions-dedicated");
    await poll("what is granted to be asked for at the end", () => isAllUsed(expected));
  });

  it("only the controllers use the API server", () => {
    const others = readEvents()
      .filter(({ user }) => user.username !== `system:serviceaccount:${namespace}:svc-controller`)
      .map((event) => `${event.user.username} ${permissionOf(event)}`);
    expect([...new Set(others)]).to.deep.equal([]);
  });
});

const route = (kind: string): object => ({
  apiVersion: gatewayApi,
  kind,
  metadata: { name: "permissions" },
  spec: { parentRefs: [{ name: "permissions" }] },
});
const l4Route = (kind: string, spec: object = {}): object => ({
  apiVersion: gatewayApi,
  kind,
  metadata: { name: "permissions" },
  spec: {
    parentRefs: [{ name: "permissions" }],
    rules: [{ backendRefs: [{ name: "permissions", port: 80 }] }],
    ...spec,
  },
});

/** A Gateway with every kind of object that dedicated proxies can have. */
const dedicatedGateway: readonly object[] = [
  {
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcGatewayParameters",
    metadata: { name: "permissions" },
    spec: { serviceType: "ClusterIP", autoscaling: { enabled: true, minReplicas: 2 } },
  },
  gateway("permissions-dedicated", {
    infrastructure: {
      parametersRef: { group: "gateway.svc-labs.dev", kind: "SvcGatewayParameters", name: "permissions" },
    },
  }),
];

/** An object of each kind whose status is written. */
const objectsWithStatuses: readonly object[] = [
  gateway("permissions", {
    listeners: [httpListener("http", 8088)],
    allowedListeners: { namespaces: { from: "Same" } },
  }),
  {
    apiVersion: gatewayApi,
    kind: "ListenerSet",
    metadata: { name: "permissions" },
    spec: { parentRef: { name: "permissions" }, listeners: [httpListener("more", 8089)] },
  },
  route("HTTPRoute"),
  route("GRPCRoute"),
  l4Route("TLSRoute", { hostnames: ["permissions.example.com"] }),
  l4Route("TCPRoute"),
  l4Route("UDPRoute"),
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "permissions" },
    spec: { ports: [{ name: "http", port: 80 }] },
  },
  {
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcBackendPolicy",
    metadata: { name: "permissions" },
    spec: { targetRefs: [{ name: "permissions" }] },
  },
  {
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcExternalAuth",
    metadata: { name: "permissions" },
    spec: {
      protocol: "HTTP",
      backendRef: { name: "permissions", port: 80 },
      targetRefs: [{ name: "permissions" }],
    },
  },
  {
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "ClientTrafficPolicy",
    metadata: { name: "permissions" },
    spec: { targetRefs: [{ name: "permissions" }] },
  },
];
